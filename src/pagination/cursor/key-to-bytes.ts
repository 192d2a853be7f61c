import type { KeyTuple, KeyValue } from "../keys/key-tuple.ts";

// Each value is a tag and its bytes. A value without a fixed length starts with its length.
const NULL = 0;
const FALSE = 1;
const TRUE = 2;
const NUMBER = 3;
const BIGINT = 4;
const TEXT = 5;
const DATE = 6;
/** Matches a lone surrogate, which UTF-8 cannot encode. */
const UTF16 = 7;

/** Returns the bytes of a key. Equal keys have equal bytes. */
export function keyToBytes(key: KeyTuple): Buffer {
  const size = key.reduce<number>((sum, value) => sum + bytesOf(value), 1);
  const bytes = Buffer.allocUnsafe(size);
  let at = bytes.writeUInt8(key.length);
  for (const value of key) at = writeValue(bytes, at, value);
  return bytes;
}

/** The number of bytes of a value, including its tag. */
function bytesOf(value: KeyValue): number {
  if (value === null || typeof value === "boolean") return 1;
  if (typeof value === "string") return 3 + Buffer.byteLength(value, encodingOf(value));
  return typeof value === "bigint" ? 3 + value.toString().length : 9;
}

function writeValue(bytes: Buffer, at: number, value: KeyValue): number {
  if (value === null) return bytes.writeUInt8(NULL, at);
  if (typeof value === "boolean") return bytes.writeUInt8(value ? TRUE : FALSE, at);
  if (typeof value === "number") return bytes.writeDoubleBE(value, bytes.writeUInt8(NUMBER, at));
  if (typeof value === "bigint") return writeText(bytes, at, BIGINT, value.toString(), "latin1");
  if (value instanceof Date) return bytes.writeDoubleBE(value.getTime(), bytes.writeUInt8(DATE, at));
  const encoding = encodingOf(value);
  return writeText(bytes, at, encoding === "utf8" ? TEXT : UTF16, value, encoding);
}

function writeText(
  bytes: Buffer,
  at: number,
  tag: number,
  text: string,
  encoding: "utf8" | "utf16le" | "latin1",
): number {
  const start = bytes.writeUInt8(tag, at) + 2;
  const written = bytes.write(text, start, encoding);
  // A longer value does not fit into a cursor, whatever length it claims.
  bytes.writeUInt16BE(Math.min(written, 0xffff), start - 2);
  return start + written;
}

function encodingOf(text: string): "utf8" | "utf16le" {
  return text.isWellFormed() ? "utf8" : "utf16le";
}

/** Returns the key between two positions, or `null` if the bytes are not exactly one key. */
export function keyFromBytes(bytes: Buffer, start = 0, end: number = bytes.length): KeyTuple | null {
  const reader = new Reader(bytes, start);
  const length = reader.byte();
  const key: KeyValue[] = [];
  for (let index = 0; index < length; index++) {
    const value = readValue(reader);
    if (value === undefined) return null;
    key.push(value);
  }
  return reader.isAt(end) ? key : null;
}

function readValue(reader: Reader): KeyValue | undefined {
  switch (reader.byte()) {
    case NULL:
      return null;
    case FALSE:
      return false;
    case TRUE:
      return true;
    case NUMBER: {
      const value = reader.double();
      return Number.isNaN(value) ? undefined : value;
    }
    case BIGINT: {
      const digits = reader.sized("latin1");
      return /^-?(?:0|[1-9]\d*)$/.test(digits) ? BigInt(digits) : undefined;
    }
    case TEXT:
      return reader.sized("utf8");
    case UTF16:
      return reader.sized("utf16le");
    case DATE: {
      const date = new Date(reader.double());
      return Number.isNaN(date.getTime()) ? undefined : date;
    }
    default:
      return undefined;
  }
}

/**
 * Reads values in order and remembers when it passes the end, so that bytes from a client never throw. It does not copy
 * slices, which is slow.
 */
class Reader {
  readonly #bytes: Buffer;
  #at: number;
  constructor(bytes: Buffer, start: number) {
    this.#bytes = bytes;
    this.#at = start;
  }
  isAt(end: number): boolean {
    return this.#at === end;
  }
  byte(): number {
    return this.#bytes[this.#at++] ?? 0xff;
  }
  double(): number {
    const start = this.#at;
    this.#at += 8;
    return this.#at <= this.#bytes.length ? this.#bytes.readDoubleBE(start) : Number.NaN;
  }
  sized(encoding: "utf8" | "utf16le" | "latin1"): string {
    const start = this.#at + 2;
    const length = start <= this.#bytes.length ? this.#bytes.readUInt16BE(this.#at) : 0;
    this.#at = start + length;
    return this.#bytes.toString(encoding, start, this.#at);
  }
}
