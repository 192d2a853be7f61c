import { createHash } from "node:crypto";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { setImmediate as nextTurn } from "node:timers/promises";
import { HttpException, PorticoApp } from "portico";
import { liveClient } from "portico/testing";
import { receiveUpload, type UploadSource } from "../../../src/graphql/uploads/receive-upload.ts";
import type { UploadedFile } from "../../../src/graphql/uploads/uploaded-file.ts";
import { Uploads, type UploadsOptions } from "../../../src/graphql/uploads/uploads.ts";
import { CONTENT_TYPE } from "./multipart-form.ts";

/** The result of an upload: the variables with a summary of each file, or the error. */
type Outcome =
  | { readonly variables: unknown }
  | { readonly status: number; readonly code: string; readonly message: string };

/** The rest of the request that the body belongs to. */
export interface Surroundings {
  readonly maxBody?: number;
  readonly contentType?: string;
}

export type Receive = (body: Buffer, options?: UploadsOptions, surroundings?: Surroundings) => Promise<Outcome>;

export const MAX_BODY: number = 65_536;
const PIECE_BYTES = 16_384;

export function uploadsOf(options: UploadsOptions): Uploads {
  return new Uploads({ enabled: true, ...options });
}

/** Without a connection: the body is one piece. */
export const receiveStream: Receive = async (body, options = {}, { maxBody, contentType = CONTENT_TYPE } = {}) => {
  const headers = { "content-type": contentType };
  try {
    return await receiveAndSum({ stream: Readable.from([body], { objectMode: false }), headers }, options, maxBody);
  } catch (error) {
    if (!(error instanceof HttpException)) throw error;
    return { status: error.status, code: error.code, message: error.message };
  }
};

/** Through a route, over a real connection. */
export const receiveOverSocket: Receive = async (
  upload,
  options = {},
  { maxBody, contentType = CONTENT_TYPE } = {},
) => {
  const app = new PorticoApp({ logger: false });
  app.post("/up", ({ request }) => receiveAndSum(request, options, maxBody, request.signal));
  const client = await liveClient(app);
  try {
    const { status, text: body } = await send(client.port, upload, contentType);
    const answer = JSON.parse(body) as Record<string, string>;
    if (status === 200) return answer as unknown as Outcome;
    return { status, code: String(answer["code"]).toUpperCase(), message: String(answer["detail"]) };
  } finally {
    await client.close();
  }
};

/** Sends in pieces until the response, because a client that sends on after a rejection may miss the reason. */
async function send(port: number, body: Buffer, contentType: string): Promise<{ status: number; text: string }> {
  const headers = { "content-type": contentType, "content-length": body.length };
  const outgoing = httpRequest({ port, method: "POST", path: "/up", headers });
  const answer = new Promise<IncomingMessage>((resolve, reject) => {
    outgoing.on("response", resolve).on("error", reject);
  });
  let start = 0;
  do {
    outgoing.write(body.subarray(start, start + PIECE_BYTES));
    start += PIECE_BYTES;
  } while ((await Promise.race([answer, nextTurn()])) === undefined && start < body.length);
  if (start >= body.length) outgoing.end();
  const incoming = await answer;
  return { status: incoming.statusCode as number, text: await text(incoming) };
}

async function receiveAndSum(
  source: UploadSource,
  options: UploadsOptions,
  maxBody: number = MAX_BODY,
  signal: AbortSignal = new AbortController().signal,
): Promise<Outcome> {
  const received = await receiveUpload(source, { uploads: uploadsOf(options), maxBody, signal });
  try {
    return { variables: await sumUp((received.operations as Record<string, unknown>)["variables"]) };
  } finally {
    await received.dispose();
  }
}

async function sumUp(value: unknown): Promise<unknown> {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return Promise.all(value.map(sumUp));
  if ("stream" in value && typeof value.stream === "function") return sumUpFile(value as UploadedFile);
  const entries = await Promise.all(Object.entries(value).map(async ([key, inner]) => [key, await sumUp(inner)]));
  return Object.fromEntries(entries) as unknown;
}

async function sumUpFile(upload: UploadedFile): Promise<unknown> {
  const { filename, contentType, size } = upload;
  return { filename, contentType, size, digest: digestOf(await bytesOf(upload.stream())) };
}

export function digestOf(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("base64url");
}

export async function bytesOf(stream: ReadableStream<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}
