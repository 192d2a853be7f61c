import { readJson } from "../../core/read-json.ts";
import { type CursorKeys, HEAD_BYTES, NONCE_BYTES, TAG_BYTES } from "../../pagination/cursor/cursor-keys.ts";
import type { KeyPlace } from "./response-store.ts";

/** A response as it is stored, with what a replay is compared with. */
export interface KeptResponse {
  /** A digest of the request. */
  readonly request: string;
  /** A digest of what its caller was granted. */
  readonly grants: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** `null` for a response that must not be stored. */
  readonly body: string | null;
  /** The root fields that have run, for a mutation. */
  readonly fields: readonly string[];
}

/** Cursors begin with other versions, so that neither can be taken for the other. */
const VERSION = 0x52;
const TEXT_START: number = HEAD_BYTES + NONCE_BYTES;

/** Encrypts a response with its place, so that a row that is moved to another key or caller is not valid there. */
export function sealResponse(kept: KeptResponse, { caller, key }: KeyPlace, keys: CursorKeys): Buffer {
  const text = JSON.stringify({ ...kept, caller, key });
  const bytes = Buffer.allocUnsafe(TEXT_START + Buffer.byteLength(text) + TAG_BYTES);
  bytes[0] = VERSION;
  bytes.write(text, TEXT_START);
  keys.encrypt(bytes);
  return bytes;
}

/** Decrypts a response; `null` if no key of the application encrypted it, or if it belongs to another place. */
export function openResponse(sealed: Uint8Array, place: KeyPlace, keys: CursorKeys): KeptResponse | null {
  const bytes = Buffer.from(sealed);
  if (bytes.length < TEXT_START + TAG_BYTES || bytes[0] !== VERSION) return null;
  const text = keys.decrypt(bytes);
  if (text === null) return null;
  const { value } = readJson(text.toString("utf8"));
  if (value === undefined) return null;
  const { caller, key, ...kept } = value as KeptResponse & KeyPlace;
  return caller === place.caller && key === place.key ? kept : null;
}
