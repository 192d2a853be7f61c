import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { type Answer, readAnswer } from "./answer.ts";

/** The server, and the conditions of every request. */
export interface Target {
  readonly url: URL;
  /** Sent with every request, unless the request has a header of that name. */
  readonly headers: Readonly<Record<string, string>>;
  /** The time in which a response has to be complete. */
  readonly timeoutSeconds: number;
}

/** One HTTP request of a row. */
export interface HttpRequest {
  /** @default "POST" */
  readonly method?: string;
  /** Parameters of the URL; a name may occur twice. */
  readonly params?: readonly (readonly [name: string, value: string])[];
  /** Names in lower case. `null` leaves out a header that would be sent otherwise. */
  readonly headers?: Readonly<Record<string, string | null>>;
  readonly body?: string | Uint8Array;
  /** Whether the body is sent in chunks, without a Content-Length. @default false */
  readonly isChunked?: boolean;
}

/** The media type of GraphQL responses. */
export const GRAPHQL_RESPONSE = "application/graphql-response+json";

/** Responses are read up to this size. */
const MAX_BYTES = 20 * 1024 ** 2;

/** The server sent no complete response. */
export class NoResponse extends Error {
  override readonly name: string = "NoResponse";
  readonly isTimeout: boolean;

  constructor(message: string, isTimeout: boolean) {
    super(message);
    this.isTimeout = isTimeout;
  }
}

/**
 * Sends a request over a new connection. Not with `fetch`, which adds headers and rejects some requests of the rows.
 * Redirects are not followed. Throws `NoResponse` if no response arrives in time.
 */
export function send(target: Target, request: HttpRequest): Promise<Answer> {
  const url = new URL(target.url);
  for (const [name, value] of request.params ?? []) url.searchParams.append(name, value);
  const body = request.body === undefined ? undefined : Buffer.from(request.body);
  const headers = headersOf(target, request, body?.length);
  const open = url.protocol === "https:" ? requestHttps : requestHttp;

  return new Promise((resolve, reject) => {
    const outgoing = open(url, { method: request.method ?? "POST", headers, agent: false });
    const timer = setTimeout(() => {
      reject(new NoResponse(`no response within ${target.timeoutSeconds} s`, true));
      outgoing.destroy();
    }, target.timeoutSeconds * 1_000);
    outgoing.on("response", (response) => {
      readBody(response)
        .then((text) => resolve(readAnswer(response.statusCode ?? 0, joined(response.headers), text)), reject)
        .finally(() => {
          clearTimeout(timer);
          outgoing.destroy();
        });
    });
    outgoing.on("error", (error: NodeJS.ErrnoException) => {
      clearTimeout(timer);
      reject(new NoResponse(`the connection failed: ${error.code ?? error.message}`, false));
    });
    if (request.isChunked === true && body !== undefined) {
      const half = Math.ceil(body.length / 2);
      outgoing.write(body.subarray(0, half));
      outgoing.end(body.subarray(half));
    } else outgoing.end(body);
  });
}

function headersOf(target: Target, request: HttpRequest, length: number | undefined): Record<string, string> {
  const isGet = request.method === "GET" || request.method === "HEAD";
  const all: Record<string, string | null> = {
    accept: GRAPHQL_RESPONSE,
    ...(isGet ? {} : { "content-type": "application/json" }),
    ...(length === undefined || request.isChunked === true ? {} : { "content-length": String(length) }),
    ...target.headers,
    ...request.headers,
  };
  return Object.fromEntries(Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== null));
}

async function readBody(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      size += chunk.length;
      if (size > MAX_BYTES) throw new NoResponse(`the response is larger than ${MAX_BYTES} bytes`, false);
    }
  } catch (error) {
    if (error instanceof NoResponse) throw error;
    throw new NoResponse("the connection ended in the middle of the response", false);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function joined(headers: IncomingMessage["headers"]): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(", ") : value]),
  );
}
