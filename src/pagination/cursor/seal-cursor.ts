import type { KeyTuple } from "../keys/key-tuple.ts";
import { InvalidCursorError } from "../query/pagination-error.ts";
import { type CursorKeys, HEAD_BYTES, NONCE_BYTES, TAG_BYTES } from "./cursor-keys.ts";
import { keyFromBytes, keyToBytes } from "./key-to-bytes.ts";
import { SCOPE_BYTES } from "./scope-digest.ts";

/** The content of a cursor: a position and a direction. */
export interface Position {
  readonly direction: "forward" | "backward";
  /**
   * After a key, or from an offset if the source cannot seek. `null` is the beginning, or the end when going backward.
   */
  readonly at: { readonly key: KeyTuple } | { readonly offset: number } | null;
}

/** The values that all cursors of a list share. */
export interface Seal {
  readonly keys: CursorKeys;
  readonly scope: Buffer;
  /** The query parameter, for error messages. */
  readonly parameter: string;
  /** Seconds since 1970. */
  readonly now: number;
  /** How long a cursor is valid, in seconds. If it is omitted, cursors never expire. */
  readonly maxAgeSeconds?: number;
}

const VERSION = 2;
const MAX_LENGTH = 2_048;
const MAX_BYTES = (MAX_LENGTH * 3) / 4;
const TEXT_START: number = HEAD_BYTES + NONCE_BYTES;
const FLAGS_AT = SCOPE_BYTES;
/** The length of the scope and the flags, with which every plaintext starts. */
const MIN_BYTES: number = SCOPE_BYTES + 1;
const BACKWARD = 1;
const OFFSET = 2;
const DATED = 4;
/** No key follows: the position is the beginning, or the end when going backward. */
const OUTERMOST = 8;
/** The upper half of the flags is the number of padding bytes after the key. */
const PADDING_SHIFT = 4;
/**
 * Plaintexts are padded to a multiple of this, so that a cursor's length reveals little about the length of a value.
 */
const STEP_BYTES = 16;

const NO_BYTES = Buffer.alloc(0);

/** Thrown when a value of the key is too long for a cursor. */
export class KeyTooLong extends RangeError {}

/**
 * Returns version, key id, nonce, ciphertext and tag as unpadded base64url. The plaintext is the scope, the flags, the
 * time if cursors expire, the key and the padding. The scope is encrypted as well, because it is a plain digest from
 * which a filter could be guessed.
 */
export function sealCursor(position: Position, { keys, scope, now, maxAgeSeconds }: Seal): string {
  const { at, direction } = position;
  const isDated = maxAgeSeconds !== undefined;
  const key = at === null ? NO_BYTES : keyToBytes("offset" in at ? [at.offset] : at.key);
  const keyStart = MIN_BYTES + (isDated ? 4 : 0);
  const end = keyStart + key.length;
  const padding = (STEP_BYTES - (end % STEP_BYTES)) % STEP_BYTES;
  const length = TEXT_START + end + padding + TAG_BYTES;
  if (length > MAX_BYTES) throw new KeyTooLong(`a cursor for it would exceed ${MAX_LENGTH} characters`);
  const bytes = Buffer.allocUnsafe(length);
  bytes[0] = VERSION;
  scope.copy(bytes, TEXT_START);
  bytes[TEXT_START + FLAGS_AT] =
    (direction === "backward" ? BACKWARD : 0) | (isDated ? DATED : 0) | kindOf(at) | (padding << PADDING_SHIFT);
  if (isDated) bytes.writeUInt32BE(Math.floor(now), TEXT_START + MIN_BYTES);
  key.copy(bytes, TEXT_START + keyStart);
  bytes.fill(0, TEXT_START + end, length - TAG_BYTES);
  keys.encrypt(bytes);
  return bytes.toString("base64url");
}

function kindOf(at: Position["at"]): number {
  if (at === null) return OUTERMOST;
  return "offset" in at ? OFFSET : 0;
}

/** Returns the position in a cursor of this list. Throws `InvalidCursorError`. The cheap checks come first. */
export function openCursor(cursor: string, seal: Seal): Position {
  const { keys, scope, parameter, now, maxAgeSeconds } = seal;
  const refuse = (code?: string): InvalidCursorError =>
    new InvalidCursorError({ parameter, ...(code === undefined ? {} : { code }) });
  if (cursor.length > MAX_LENGTH || !/^[\w-]+$/.test(cursor)) throw refuse();
  const bytes = Buffer.from(cursor, "base64url");
  // Only the canonical encoding is valid, because the last character has unused bits.
  if (bytes.toString("base64url") !== cursor || bytes.length < TEXT_START + TAG_BYTES) throw refuse();
  if (bytes[0] !== VERSION) throw refuse("CURSOR_VERSION");
  const plaintext = keys.decrypt(bytes);
  if (plaintext === null || plaintext.length < MIN_BYTES) throw refuse();
  if (scope.compare(plaintext, 0, SCOPE_BYTES) !== 0) throw refuse("CURSOR_MISMATCH");
  const flags = plaintext[FLAGS_AT] as number;
  const isDated = (flags & DATED) !== 0;
  const start = MIN_BYTES + (isDated ? 4 : 0);
  const end = plaintext.length - (flags >> PADDING_SHIFT);
  if (start > end) throw refuse();
  if (maxAgeSeconds !== undefined && (!isDated || plaintext.readUInt32BE(MIN_BYTES) + maxAgeSeconds < now))
    throw refuse("CURSOR_EXPIRED");
  const direction = (flags & BACKWARD) === 0 ? "forward" : "backward";
  if ((flags & OUTERMOST) !== 0 && start === end) return { direction, at: null };
  const key = keyFromBytes(plaintext, start, end);
  if (key === null) throw refuse();
  if ((flags & OFFSET) === 0) return { direction, at: { key } };
  const [offset] = key;
  if (key.length !== 1 || !Number.isSafeInteger(offset) || (offset as number) < 0) throw refuse();
  return { direction, at: { offset: offset as number } };
}
