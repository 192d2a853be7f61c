import type { KeyTuple, KeyValue } from "../key.ts";

// Each value is a tag and its bytes; what has no fixed length says it first.
const NULL = 0;
const FALSE = 1;
const TRUE = 2;
const NUMBER = 3;
const BIGINT = 4;
const TEXT = 5;
const DATE = 6;
/** Text that UTF-8 cannot hold: a lone surrogate. */
const UTF16 = 7;

/** The bytes of a key. The same key has the same bytes. */
export function keyToBytes(key: KeyTuple): Buffer {
  return Buffer.concat([Buffer.of(key.length), ...key.map(valueToBytes)]);
}

function valueToBytes(value: KeyValue): Buffer {
  if (value === null) return Buffer.of(NULL);
  if (typeof value === "boolean") return Buffer.of(value ? TRUE : FALSE);
  if (typeof value === "number") return double(NUMBER, value);
  if (typeof value === "bigint") return sized(BIGINT, Buffer.from(value.toString(), "latin1"));
  if (typeof value === "string")
    return value.isWellFormed() ? sized(TEXT, Buffer.from(value)) : sized(UTF16, Buffer.from(value, "utf16le"));
  return double(DATE, value.getTime());
}

function double(tag: number, value: number): Buffer {
  const bytes = Buffer.alloc(9, tag);
  bytes.writeDoubleBE(value, 1);
  return bytes;
}

function sized(tag: number, content: Buffer): Buffer {
  const head = Buffer.alloc(3, tag);
  head.writeUInt16BE(Math.min(content.length, 0xffff), 1);
  return Buffer.concat([head, content]);
}

/** The key in the bytes; `null` when they are not exactly one. */
export function keyFromBytes(bytes: Buffer): KeyTuple | null {
  const reader = new Reader(bytes);
  const length = reader.byte();
  const key: KeyValue[] = [];
  for (let index = 0; index < length; index++) {
    const value = readValue(reader);
    if (value === undefined) return null;
    key.push(value);
  }
  return reader.isAtEnd ? key : null;
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
      const digits = reader.sized().toString("latin1");
      return /^-?(?:0|[1-9]\d*)$/.test(digits) ? BigInt(digits) : undefined;
    }
    case TEXT:
      return reader.sized().toString("utf8");
    case UTF16:
      return reader.sized().toString("utf16le");
    case DATE: {
      const date = new Date(reader.double());
      return Number.isNaN(date.getTime()) ? undefined : date;
    }
    default:
      return undefined;
  }
}

/** Reads on, and past the end remembers it: nothing throws on what a stranger sent. */
class Reader {
  readonly #bytes: Buffer;
  #at = 0;
  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }
  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }
  byte(): number {
    return this.#take(1)[0] ?? 0xff;
  }
  double(): number {
    const taken = this.#take(8);
    return taken.length === 8 ? taken.readDoubleBE() : Number.NaN;
  }
  sized(): Buffer {
    const head = this.#take(2);
    return this.#take(head.length === 2 ? head.readUInt16BE() : 0);
  }
  #take(count: number): Buffer {
    const taken = this.#bytes.subarray(this.#at, this.#at + count);
    this.#at += count;
    return taken;
  }
}
