import type { KeyTuple } from "../keys/key-tuple.ts";
import type { Order } from "../keys/order.ts";
import { InvalidCursorError } from "../query/pagination-error.ts";
import { keyFromBytes, keyToBytes } from "./key-to-bytes.ts";
import { SCOPE_BYTES, scopeDigest } from "./scope-digest.ts";

const VERSION = 1;
const KEY_START: number = 1 + SCOPE_BYTES;
/** Longer texts than this have no length in the bytes of a key. */
const MAX_BYTES = 0xffff;

/**
 * Returns version, scope and key as unpadded base64url. It is not encrypted, because jobs keep it next to the rows
 * themselves, and it has to survive a change of the cursor keys.
 */
export function resumePoint(key: KeyTuple, name: string | undefined, order: Order): string {
  const bytes = keyToBytes(key);
  if (bytes.length > MAX_BYTES)
    throw new TypeError(
      `the walk is ordered by ${order.map(([column]) => column).join(", ")}: a key exceeds ${MAX_BYTES} bytes`,
    );
  return Buffer.concat([Buffer.of(VERSION), scopeDigest(name ?? "", order, undefined), bytes]).toString("base64url");
}

/** Returns the key in a resume point of this list and order. Throws `InvalidCursorError`. */
export function openResumePoint(point: string, name: string | undefined, order: Order): KeyTuple {
  const bytes = Buffer.from(point, "base64url");
  if (bytes.length <= KEY_START || bytes.toString("base64url") !== point) throw invalid();
  if (bytes[0] !== VERSION) throw invalid("CURSOR_VERSION");
  if (scopeDigest(name ?? "", order, undefined).compare(bytes, 1, KEY_START) !== 0) throw invalid("CURSOR_MISMATCH");
  const key = keyFromBytes(bytes, KEY_START);
  if (key === null || key.length !== order.length) throw invalid();
  return key;
}

function invalid(code?: string): InvalidCursorError {
  return new InvalidCursorError({ parameter: "after", ...(code === undefined ? {} : { code }) });
}
