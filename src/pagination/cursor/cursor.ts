import type { KeyTuple } from "../key.ts";
import { InvalidCursorError } from "../pagination-error.ts";
import { type CursorKeys, MAC_BYTES } from "./cursor-keys.ts";
import { keyFromBytes, keyToBytes } from "./key-bytes.ts";
import { SCOPE_BYTES } from "./scope.ts";

/** What a cursor says: a place, and the way to go from there. */
export interface Position {
  readonly direction: "forward" | "backward";
  /** Beyond a key, or from an offset on where the source cannot seek; `null` is the beginning, or going backward the end. */
  readonly at: { readonly key: KeyTuple } | { readonly offset: number } | null;
}

/** What cursors of one list share. */
export interface Seal {
  readonly keys: CursorKeys;
  readonly scope: Buffer;
  /** The query parameter, for errors. */
  readonly parameter: string;
  /** Seconds since 1970. */
  readonly now: number;
  /** How long a cursor is good for, in seconds; for ever when left out. */
  readonly maxAgeSeconds?: number;
}

const VERSION = 1;
const LONGEST = 2_048;
const LONGEST_BYTES = (LONGEST * 3) / 4;
const HEAD_BYTES = 2 + SCOPE_BYTES + 1;
const BACKWARD = 1;
const OFFSET = 2;
const DATED = 4;
/** No key follows: from the beginning, or back from the end. */
const OUTERMOST = 8;

const NO_BYTES = Buffer.alloc(0);

/** Thrown while a cursor is made: a value of the key is too long. */
export class KeyTooLong extends RangeError {}

/** Version, key id, scope, flags, perhaps the time, the key, and the signature, as unpadded base64url. */
export function sealCursor(position: Position, { keys, scope, now, maxAgeSeconds }: Seal): string {
  const { at, direction } = position;
  const isDated = maxAgeSeconds !== undefined;
  const key = at === null ? NO_BYTES : keyToBytes("offset" in at ? [at.offset] : at.key);
  const headBytes = HEAD_BYTES + (isDated ? 4 : 0);
  const length = headBytes + key.length;
  if (length + MAC_BYTES > LONGEST_BYTES) throw new KeyTooLong(`a cursor would have more than ${LONGEST} characters`);
  const bytes = Buffer.allocUnsafe(length + MAC_BYTES);
  bytes[0] = VERSION;
  bytes[1] = keys.id;
  scope.copy(bytes, 2);
  bytes[HEAD_BYTES - 1] = (direction === "backward" ? BACKWARD : 0) | (isDated ? DATED : 0) | kindOf(at);
  if (isDated) bytes.writeUInt32BE(Math.floor(now), HEAD_BYTES);
  key.copy(bytes, headBytes);
  keys.sign(bytes, length);
  return bytes.toString("base64url");
}

function kindOf(at: Position["at"]): number {
  if (at === null) return OUTERMOST;
  return "offset" in at ? OFFSET : 0;
}

/** The place that a cursor of this list names. Throws `InvalidCursorError`, cheap tests first. */
export function openCursor(cursor: string, seal: Seal): Position {
  const { keys, scope, parameter, now, maxAgeSeconds } = seal;
  const refuse = (code?: string): InvalidCursorError =>
    new InvalidCursorError({ parameter, ...(code === undefined ? {} : { code }) });
  if (cursor.length > LONGEST || !/^[\w-]+$/.test(cursor)) throw refuse();
  const bytes = Buffer.from(cursor, "base64url");
  // One spelling only: the last character has bits to spare.
  if (bytes.toString("base64url") !== cursor || bytes.length < HEAD_BYTES + MAC_BYTES) throw refuse();
  if (bytes[0] !== VERSION) throw refuse("CURSOR_VERSION");
  const end = bytes.length - MAC_BYTES;
  if (!keys.verify(bytes[1] as number, bytes, end)) throw refuse();
  if (scope.compare(bytes, 2, 2 + SCOPE_BYTES) !== 0) throw refuse("CURSOR_MISMATCH");
  const flags = bytes[HEAD_BYTES - 1] as number;
  const isDated = (flags & DATED) !== 0;
  if (maxAgeSeconds !== undefined && (!isDated || bytes.readUInt32BE(HEAD_BYTES) + maxAgeSeconds < now))
    throw refuse("CURSOR_EXPIRED");
  const start = HEAD_BYTES + (isDated ? 4 : 0);
  const direction = (flags & BACKWARD) === 0 ? "forward" : "backward";
  if ((flags & OUTERMOST) !== 0 && start === end) return { direction, at: null };
  const key = keyFromBytes(bytes, start, end);
  if (key === null) throw refuse();
  if ((flags & OFFSET) === 0) return { direction, at: { key } };
  const [offset] = key;
  if (key.length !== 1 || !Number.isSafeInteger(offset) || (offset as number) < 0) throw refuse();
  return { direction, at: { offset: offset as number } };
}
