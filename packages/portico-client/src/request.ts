import { PorticoClientError } from "./portico-client-error.ts";
import { readError } from "./read-error.ts";

/** The options that every request takes. */
export interface RequestOptions {
  /** Aborts the request, which then rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
  /** More headers for this request. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** One HTTP request. */
interface RequestParts extends RequestOptions {
  readonly method: string;
  /** The path and the query, after the client's `url`. */
  readonly path: string;
  /** A `FormData`, a `Blob` and a string are sent as they are, everything else as JSON. */
  readonly body?: unknown;
  readonly token?: string | null;
}

/**
 * Sends a request and returns what `read` makes of its successful response. Rejects with a `PorticoClientError` for any other
 * response, and if the connection is lost while the response is read.
 */
export type Request = <T>(parts: RequestParts, read: (response: Response) => T | Promise<T>) => Promise<T>;

/** The options that decide how requests are sent. */
export interface RequestSettings {
  readonly url: string;
  /** Whether cookies are sent. */
  readonly hasSession: boolean;
  readonly headers: Headers | undefined;
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
}

/** Headers for all requests, or a function that returns them for each one. */
export type Headers =
  | Readonly<Record<string, string>>
  | (() => Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>);

/** Makes the function through which all requests of a client go. */
export function requestTo({ url, hasSession, headers, fetch }: RequestSettings): Request {
  return async ({ method, path, body, token, headers: own, signal }, read) => {
    const isRaw = body === undefined || typeof body === "string" || body instanceof FormData || body instanceof Blob;
    const init = {
      method,
      credentials: hasSession ? "include" : "omit",
      headers: {
        accept: "application/json",
        ...(isRaw ? {} : { "content-type": "application/json" }),
        ...(await headersOf(headers)),
        ...(token ? { authorization: `Bearer ${token}` } : {}),
        ...own,
      },
      body: isRaw ? (body ?? null) : JSON.stringify(body),
      signal: signal ?? null,
    } as RequestInit;
    try {
      const response = await fetch(url + path, init);
      if (!response.ok) throw await readError(response);
      return await read(response);
    } catch (error) {
      throw requestError(error, signal);
    }
  };
}

/** Returns the headers of the client for one request. */
export async function headersOf(headers: Headers | undefined): Promise<Readonly<Record<string, string>> | undefined> {
  return typeof headers === "function" ? headers() : headers;
}

/** The reason of the signal if it aborted the request, otherwise a `PorticoClientError`. */
function requestError(error: unknown, signal: AbortSignal | undefined): unknown {
  if (signal?.aborted === true) return signal.reason;
  if (error instanceof PorticoClientError) return error;
  if (!(error instanceof SyntaxError)) return connectionLost(error);
  return new PorticoClientError("The response is not valid JSON", {
    code: "UNEXPECTED_RESPONSE",
    status: 0,
    cause: error,
  });
}

/** The error of a request or a subscription without a working connection. */
export function connectionLost(cause?: unknown): PorticoClientError {
  return new PorticoClientError("The server could not be reached, or the connection was lost", {
    code: "NETWORK_ERROR",
    status: 0,
    cause,
  });
}
