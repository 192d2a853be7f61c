import { once } from "node:events";
import { Dicer } from "@fastify/busboy";
import { uploadInvalid } from "./upload-invalid.ts";

/** The headers of a part: names in lower case, each byte of a value one character. */
export type PartHeaders = Readonly<Record<string, readonly string[] | undefined>>;

/** One part of a multipart body. Its content is read before the next part is asked for. */
export interface MultipartPart {
  readonly headers: PartHeaders;
  readonly content: AsyncIterable<Buffer>;
}

type Token = PartHeaders | Buffer | typeof END;
const END = Symbol("the end of a part");

/** Headers of this length pass, and none twice as long. The parser would cut them off after 80 KiB, and say nothing. */
const HEADER_BYTES = 16_384;
const SLICE_BYTES = 8_192;

/** The parts of a body, one after the other. What is no multipart body with this boundary is refused. */
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
    // What it finds is taken from its hand, within `write`. Its streams end a tick late, never when a part has no headers,
    // and may wait for each other for ever.
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
