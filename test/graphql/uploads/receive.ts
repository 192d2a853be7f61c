import { createHash } from "node:crypto";
import { request as httpRequest } from "node:http";
import { Readable } from "node:stream";
import { HttpException, PorticoApp } from "portico";
import { liveClient } from "portico/testing";
import { receiveUpload, type UploadSource } from "../../../src/graphql/uploads/receive-upload.ts";
import type { UploadedFile } from "../../../src/graphql/uploads/uploaded-file.ts";
import { Uploads, type UploadsOptions } from "../../../src/graphql/uploads/uploads.ts";
import { CONTENT_TYPE } from "./multipart-form.ts";

/** What came of an upload: the variables with each file summed up, or the refusal. */
export type Outcome =
  | { readonly variables: unknown }
  | { readonly status: number; readonly code: string; readonly message: string };

export interface ReceiveTestOptions extends UploadsOptions {
  readonly maxBody?: number;
  readonly contentType?: string;
}

export type Receive = (body: Buffer, options?: ReceiveTestOptions) => Promise<Outcome>;

const KIB = 1024;
export const MAX_BODY: number = 64 * KIB;

export function uploadsOf({ maxBody: _, contentType: __, ...options }: ReceiveTestOptions): Uploads {
  return new Uploads({ enabled: true, ...options });
}

/** Without a connection: the body is one piece. */
export const receiveStream: Receive = async (body, options = {}) => {
  const headers = { "content-type": options.contentType ?? CONTENT_TYPE };
  try {
    return await receiveAndSum({ stream: Readable.from([body], { objectMode: false }), headers }, options);
  } catch (error) {
    if (!(error instanceof HttpException)) throw error;
    return { status: error.status, code: error.code, message: error.message };
  }
};

/** Through a route, over a real connection. */
export const receiveOverSocket: Receive = async (body, options = {}) => {
  const app = new PorticoApp({ logger: false });
  app.post("/up", ({ request }) => receiveAndSum(request as unknown as UploadSource, options, request.signal));
  const client = await liveClient(app);
  try {
    const { status, text } = await send(client.port, body, options.contentType ?? CONTENT_TYPE);
    const answer = JSON.parse(text) as Record<string, string>;
    if (status === 200) return answer as unknown as Outcome;
    return { status, code: String(answer["code"]).toUpperCase(), message: String(answer["detail"]) };
  } finally {
    await client.close();
  }
};

/** A server that refuses early may cut the connection while the body is still being sent. */
function send(port: number, body: Buffer, contentType: string): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest({ port, method: "POST", path: "/up", headers: { "content-type": contentType } });
    let isAnswered = false;
    outgoing.on("response", async (incoming) => {
      isAnswered = true;
      const chunks: Buffer[] = [];
      for await (const chunk of incoming) chunks.push(chunk as Buffer);
      resolve({ status: incoming.statusCode as number, text: Buffer.concat(chunks).toString("utf8") });
    });
    outgoing.on("error", (error) => {
      if (!isAnswered) reject(error);
    });
    outgoing.end(body);
  });
}

async function receiveAndSum(
  source: UploadSource,
  options: ReceiveTestOptions,
  signal: AbortSignal = new AbortController().signal,
): Promise<Outcome> {
  const { maxBody = MAX_BODY } = options;
  const received = await receiveUpload(source, { uploads: uploadsOf(options), maxBody, signal });
  try {
    return { variables: await sumUp(received.operations["variables"]) };
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
