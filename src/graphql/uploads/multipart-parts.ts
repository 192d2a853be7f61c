import { once } from "node:events";
import { Dicer } from "@fastify/busboy";
import { uploadInvalid } from "./upload-invalid.ts";

/** The headers of a part: names in lower case, values with one character per byte. */
export type PartHeaders = Readonly<Record<string, readonly string[] | undefined>>;

/** One part of a multipart body. Its content must be read before the next part. */
export interface MultipartPart {
  readonly headers: PartHeaders;
  readonly content: AsyncIterable<Buffer>;
}

type Token = PartHeaders | Buffer | typeof END;
const END = Symbol("the end of a part");

/** Headers of this length are accepted, and twice that length is not. The parser would silently cut them after 80 KiB. */
const HEADER_BYTES = 16_384;
const SLICE_BYTES = 8_192;

/** Yields the parts of a body in order. Rejects a body that is not multipart with this boundary. */
export async function* multipartParts(
  chunks: AsyncIterable<Buffer>,
  boundary: string,
): AsyncGenerator<MultipartPart, void, undefined> {
  const tokens = tokenize(chunks, boundary);
  try {
    for (let next = await tokens.next(); next.done !== true; next = await tokens.next()) {
      if (next.value === END) throw uploadInvalid("A part of the body has no headers");
      yield { headers: next.value as PartHeaders, content: contentOf(tokens) };
    }
  } finally {
    await tokens.return();
  }
}

async function* contentOf(tokens: AsyncGenerator<Token>): AsyncGenerator<Buffer, void, undefined> {
  for (let next = await tokens.next(); next.done !== true && next.value !== END; next = await tokens.next())
    yield next.value as Buffer;
}

async function* tokenize(chunks: AsyncIterable<Buffer>, boundary: string): AsyncGenerator<Token, void, undefined> {
  const found: Token[] = [];
  const parser = new Dicer({ boundary });
  let isInHeader = false;
  let headerBytes = 0;
  parser.on("part", (part) => {
    isInHeader = true;
    headerBytes = 0;
    part.on("error", () => {});
    part.once("header", (headers) => {
      isInHeader = false;
      found.push(headers as PartHeaders);
    });
    // Collects the content during `write`, because the parser's streams end a tick late, never end for a part without
    // headers, and can block each other.
    part.push = (chunk: Buffer | null) => {
      isInHeader = false;
      found.push(chunk ?? END);
      return true;
    };
  });

  for await (const chunk of chunks) {
    for (let start = 0; start < chunk.length; start += SLICE_BYTES) {
      const slice = chunk.subarray(start, start + SLICE_BYTES);
      if (isInHeader) headerBytes += slice.length;
      if (headerBytes > HEADER_BYTES + SLICE_BYTES) throw uploadInvalid("The headers of a part are too large");
      parser.write(slice);
      yield* found.splice(0);
    }
  }
  const closed = once(parser, "close");
  parser.end();
  await closed.catch(() => {
    throw uploadInvalid("The body ends before its closing boundary");
  });
}
