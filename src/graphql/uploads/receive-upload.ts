import type { IncomingHttpHeaders } from "node:http";
import type { Readable } from "node:stream";
import { readJson } from "../../core/read-json.ts";
import { decodeUtf8 } from "../../http/messages/read-body.ts";
import { parseParameters } from "../../http/text/parameterized-header.ts";
import { CompressedBody } from "../../kernel/exceptions/compressed-body.ts";
import { PayloadTooLarge } from "../../kernel/exceptions/http-exception.ts";
import { checkBatch } from "../request/check-batch.ts";
import { bodyChunks } from "./body-chunks.ts";
import { ByteBuffer } from "./byte-buffer.ts";
import { declaredType, isAllowedType } from "./content-type.ts";
import { type MultipartPart, multipartParts } from "./multipart-parts.ts";
import { describePart, type PartDescription } from "./part-description.ts";
import { Spool } from "./spool.ts";
import { quote, uploadInvalid, uploadTooLarge, uploadTypeRefused } from "./upload-invalid.ts";
import { readUploadMap, type UploadMap } from "./upload-map.ts";
import { UploadedFile } from "./uploaded-file.ts";
import type { Uploads } from "./uploads.ts";

/** A request with an unread body. `stream` is read only after the headers have been checked. */
export interface UploadSource {
  readonly stream: Readable;
  readonly headers: IncomingHttpHeaders;
}

export interface ReceiveOptions {
  readonly uploads: Uploads;
  /** The maximum size of `operations` and `map` in total, in bytes. */
  readonly maxBody: number;
  /** The maximum number of operations in a batch; 0 disables batches. @default 0 */
  readonly batch?: number;
  readonly signal: AbortSignal;
}

/** The part `operations`: one operation or a batch. */
type Operations = Record<string, unknown> | unknown[];

/** A complete upload, which is kept until it is disposed. */
export interface ReceivedUpload {
  /** The part `operations`, with files in place of the nulls. */
  readonly operations: Operations;
  /** Frees memory and disk space; open streams of the files fail. May be called more than once. */
  readonly dispose: () => Promise<void>;
}

/**
 * Receives a request of the GraphQL multipart request convention: the parts `operations`, `map` and one for each file, in
 * this order. It throws an HTTP exception at the first error or exceeded limit, leaves the rest unread and keeps nothing.
 */
export async function receiveUpload(source: UploadSource, options: ReceiveOptions): Promise<ReceivedUpload> {
  const { uploads, maxBody, signal } = options;
  const { "content-encoding": encoding = "identity", "content-length": announced = 0 } = source.headers;
  const limit = uploads.maxTotal + maxBody;
  if (encoding.toLowerCase() !== "identity") throw new CompressedBody(encoding);
  if (Number(announced) > limit) throw new PayloadTooLarge(limit);
  const boundary = boundaryOf(source.headers["content-type"]);
  const { stream } = source;
  if (stream.readableDidRead)
    throw new Error("the body of this upload was already read, by request.stream or a plugin");
  const spool = new Spool(uploads);
  try {
    const parts = multipartParts(bodyChunks(stream, { limit, signal }), boundary);
    const operations = await new Reception(options, spool).receive(parts);
    return { operations, dispose: () => spool.close() };
  } catch (error) {
    await spool.close();
    throw error;
  }
}

/** RFC 2046 section 5.1.1: a boundary has 1 to 70 of these characters and does not end with a space. */
function boundaryOf(contentType: string | undefined): string {
  const boundary = parseParameters(contentType ?? "")?.parameters.get("boundary");
  if (boundary === undefined || !/^[\w'()+,./:=? -]{0,69}[\w'()+,./:=?-]$/.test(boundary))
    throw uploadInvalid("The Content-Type of an upload must have one boundary of at most 70 characters");
  return boundary;
}

/** The state of one upload: the parts received so far determine which part may follow. */
class Reception {
  readonly #options: ReceiveOptions;
  readonly #spool: Spool;
  readonly #files = new Map<string, UploadedFile>();
  #operations: Operations | null = null;
  #map: UploadMap | null = null;
  #textBytes = 0;
  #fileBytes = 0;

  constructor(options: ReceiveOptions, spool: Spool) {
    this.#options = options;
    this.#spool = spool;
  }

  async receive(parts: AsyncIterable<MultipartPart>): Promise<Operations> {
    for await (const part of parts) {
      const description = describePart(part.headers);
      if (description.name === "operations") await this.#receiveOperations(part);
      else if (description.name === "map") await this.#receiveMap(part);
      else await this.#receiveFile(description, part);
    }
    return this.#complete();
  }

  async #receiveOperations({ content }: MultipartPart): Promise<void> {
    if (this.#operations !== null) throw uploadInvalid('The part "operations" was sent twice');
    const operations = await this.#readJson("operations", content);
    if (typeof operations !== "object" || operations === null)
      throw uploadInvalid('"operations" must be an object or an array');
    if (Array.isArray(operations)) checkBatch(operations, this.#options.batch ?? 0);
    this.#operations = operations as Operations;
  }

  async #receiveMap({ content }: MultipartPart): Promise<void> {
    if (this.#operations === null) throw uploadInvalid('The part "operations" must come before "map"');
    if (this.#map !== null) throw uploadInvalid('The part "map" was sent twice');
    const map = await this.#readJson("map", content);
    this.#map = readUploadMap(map, this.#operations, this.#options.uploads.maxFiles);
  }

  async #receiveFile(described: PartDescription, { content }: MultipartPart): Promise<void> {
    const { name, filename } = described;
    if (this.#map === null) throw uploadInvalid('The parts "operations" and "map" must come before the files');
    if (!this.#map.has(name)) throw uploadInvalid(`The part ${quote(name)} is not listed in "map"`);
    if (this.#files.has(name)) throw uploadInvalid(`The part ${quote(name)} was sent twice`);
    const type = declaredType(described.contentType);
    if (!isAllowedType(type, this.#options.uploads.contentTypes))
      throw uploadTypeRefused(filename, described.contentType);
    const stored = await this.#spool.store(this.#withinLimits(filename, content));
    // RFC 9110 section 8.3: content without a type may be treated as arbitrary bytes.
    const contentType = type ?? "application/octet-stream";
    this.#files.set(name, new UploadedFile({ filename, contentType }, stored, this.#spool.signal));
  }

  #complete(): Operations {
    if (this.#operations === null || this.#map === null)
      throw uploadInvalid(`The part "${this.#operations === null ? "operations" : "map"}" is missing`);
    for (const [name, places] of this.#map) {
      const file = this.#files.get(name);
      if (file === undefined) throw uploadInvalid(`The part ${quote(name)} is listed in "map" but was not sent`);
      for (const { holder, key } of places) holder[key] = file;
    }
    return this.#operations;
  }

  async #readJson(name: string, content: AsyncIterable<Buffer>): Promise<unknown> {
    const { maxBody } = this.#options;
    const bytes = new ByteBuffer();
    for await (const chunk of content) {
      this.#textBytes += chunk.length;
      if (this.#textBytes > maxBody)
        throw uploadTooLarge(`"operations" and "map" are larger than ${maxBody} bytes in total`);
      bytes.add(chunk);
    }
    const { value, fault } = readJson(decodeUtf8(bytes.view()) ?? "");
    if (fault === undefined) return value;
    throw fault === null
      ? uploadInvalid(`The part "${name}" is not valid JSON`)
      : uploadTooLarge(`The part "${name}" is too large: ${fault}`);
  }

  async *#withinLimits(filename: string, content: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, undefined> {
    const { maxSize, maxTotal } = this.#options.uploads;
    let size = 0;
    for await (const chunk of content) {
      size += chunk.length;
      this.#fileBytes += chunk.length;
      if (size > maxSize) throw uploadTooLarge(`The file ${quote(filename)} is larger than ${maxSize} bytes`);
      if (this.#fileBytes > maxTotal) throw uploadTooLarge(`The files are larger than ${maxTotal} bytes in total`);
      yield chunk;
    }
  }
}
