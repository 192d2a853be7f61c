import { isUtf8 } from "node:buffer";
import { readJson, SHORT_JSON } from "../../core/read-json.ts";
import { workTurns } from "../../core/work/event-loop-turns.ts";
import { CompressedBody } from "../../kernel/exceptions/compressed-body.ts";
import {
  BodyIncomplete,
  BodyNotForm,
  BodyNotJSON,
  HttpException,
  PayloadTooLarge,
  UnsupportedMediaType,
} from "../../kernel/exceptions/http-exception.ts";
import type { Exchange } from "../../kernel/exchange/exchange.ts";
import { readFileName } from "../text/file-name.ts";
import { parseParameters } from "../text/parameterized-header.ts";

/**
 * Reads a body of up to `limit` bytes. Above it, rejects with `PayloadTooLarge` at once: by the declared length before a byte
 * is read, otherwise in the middle of the stream, with the rest unread.
 */
export async function readBody(exchange: Exchange, limit: number): Promise<Buffer> {
  const { "content-encoding": encoding = "identity", "content-length": announced = 0 } = exchange.headers;
  if (encoding.toLowerCase() !== "identity" && !exchange.isUnpacked) throw new CompressedBody(encoding);
  if (Number(announced) > limit) throw new PayloadTooLarge(limit);
  // The rest of the packet with the headers is parsed before the next microtask.
  await Promise.resolve();
  const arrived = exchange.arrivedBody();
  if (arrived !== null) return arrived;
  const stream = exchange.body();
  if (stream.readableEnded || stream.destroyed) return nothingLeft(exchange, stream.readableEnded);

  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const settle = (finish: () => void): void => {
      stream.off("data", onData).off("end", onEnd).off("error", onError).off("close", onClose);
      finish();
    };
    const onData = (chunk: Buffer): void => {
      length += chunk.length;
      if (length <= limit) chunks.push(chunk);
      else settle(() => reject(new PayloadTooLarge(limit)));
      // A few compressed bytes expand to many, which costs as much when they are not used.
      if (length > limit && exchange.isUnpacked) stream.pause();
    };
    const onEnd = (): void =>
      settle(() => resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, length)));
    const onError = (cause: Error): void => settle(() => reject(new BodyIncomplete({ cause })));
    const onClose = (): void => settle(() => reject(new BodyIncomplete()));
    // A plugin that decompresses may return a paused stream.
    stream.on("data", onData).on("end", onEnd).on("error", onError).on("close", onClose).resume();
  });
}

/** Whether the request has no body, and does not declare a content type other than JSON. */
export function isBodyMissing({ headers }: Exchange): boolean {
  const { "content-type": contentType } = headers;
  // An empty form has a content type, and a foreign page can send it.
  return isEmpty(headers) && (contentType === undefined || isJson(mediaType(contentType).type));
}

function isEmpty(headers: Exchange["headers"]): boolean {
  return Number(headers["content-length"] ?? 0) === 0 && headers["transfer-encoding"] === undefined;
}

/** An empty body is valid. A body that was already read would look empty, and be rejected for the wrong reason. */
function nothingLeft({ headers }: Exchange, isRead: boolean): Buffer {
  if (isEmpty(headers)) return Buffer.alloc(0);
  if (!isRead) throw new BodyIncomplete();
  throw new Error("the body has already been read, by request.stream or by a body parser in front of app.handler");
}

/** Parses a JSON body. The content type is checked before a byte is read. */
export async function jsonBody(contentType: string | undefined, read: () => Promise<Buffer>): Promise<unknown> {
  const { type, charset } = mediaType(contentType);
  if (!isJson(type)) throw new UnsupportedMediaType(contentType, "application/json");
  if (charset !== null && charset !== "utf-8" && charset !== "utf8")
    throw new UnsupportedMediaType(contentType, "application/json in UTF-8");
  const bytes = await read();
  // It takes a turn, because it cannot pause.
  if (bytes.length > SHORT_JSON) await workTurns.take();
  return parseJson(bytes);
}

/** Parses JSON in UTF-8. */
export function parseJson(bytes: Buffer): unknown {
  const text = decodeUtf8(bytes);
  if (text === null) throw new BodyNotJSON();
  const { value, fault } = readJson(text);
  if (fault === undefined) return value;
  throw fault === null ? new BodyNotJSON() : new HttpException(413, fault);
}

/** The content type of most bodies, so that it is not parsed each time. */
const JSON_TYPE = { type: "application/json", charset: null } as const;

function isJson(type: string): boolean {
  return type === "application/json" || /^application\/[\w.-]+\+json$/.test(type);
}

/** The text of a body, without a byte order mark; `null` if it is not valid UTF-8. */
export function decodeUtf8(bytes: Buffer): string | null {
  if (!isUtf8(bytes)) return null;
  const text = bytes.toString("utf8");
  return text.startsWith("\uFEFF") ? text.slice(1) : text;
}

/** Whether a body is a form whose fields are all texts. */
export function isUrlencoded(contentType: string | undefined): boolean {
  return mediaType(contentType).type === "application/x-www-form-urlencoded";
}

const MAX_FIELDS = 1_000;

/** Parses a form of at most 1,000 fields, urlencoded or multipart, with Node's own parser. */
export async function formBody(contentType: string | undefined, read: () => Promise<Buffer>): Promise<FormData> {
  if (!isUrlencoded(contentType) && mediaType(contentType).type !== "multipart/form-data")
    throw new UnsupportedMediaType(contentType, "a form");
  const bytes = await read();
  if (hasTooManyFields(bytes, contentType as string))
    throw new HttpException(413, `The form has more than ${MAX_FIELDS} fields`);
  const body = new Response(new Uint8Array(bytes), { headers: { "content-type": contentType as string } });
  const form = await body.formData().catch(() => {
    throw new BodyNotForm();
  });
  return [...form.values()].some((value) => value instanceof File) ? withFileNames(form) : form;
}

/** Returns a form whose file names are checked and have no directories. */
function withFileNames(form: FormData): FormData {
  const named = new FormData();
  for (const [field, value] of form)
    if (typeof value === "string") named.append(field, value);
    else named.append(field, value, readFileName(value.name));
  return named;
}

/** Checked before the parser runs, because a field costs it as much as hundreds of bytes. */
function hasTooManyFields(bytes: Buffer, contentType: string): boolean {
  const boundary = parseParameters(contentType)?.parameters.get("boundary");
  // There is text before the first boundary and after the last.
  const [separator, most] = boundary === undefined ? ["&", MAX_FIELDS] : [`--${boundary}`, MAX_FIELDS + 2];
  return bytes.toString("latin1").split(separator, most + 1).length > most;
}

/**
 * The type and charset of a `Content-Type`, in lower case. In a malformed header the type is still the text before the first
 * semicolon, and the charset is empty, which is not UTF-8.
 */
export function mediaType(header = ""): { readonly type: string; readonly charset: string | null } {
  if (header === JSON_TYPE.type) return JSON_TYPE;
  const parsed = parseParameters(header);
  if (parsed !== null) return { type: parsed.value, charset: parsed.parameters.get("charset")?.toLowerCase() ?? null };
  return { type: (header.split(";", 1)[0] as string).toLowerCase(), charset: /charset/i.test(header) ? "" : null };
}
