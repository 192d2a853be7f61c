import { isUtf8 } from "node:buffer";
import { readJson } from "../../core/read-json.ts";

/** The members of a token header that select a key. All others, such as `jwk` and `jku`, are ignored. */
export interface TokenHeader {
  readonly alg: string;
  readonly kid: string | undefined;
}

const SEGMENTS = /^([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)$/;
/** The accepted values of `typ`. Other issuers may also leave it out. */
const ACCESS_TYPES: ReadonlySet<string> = new Set(["jwt", "at+jwt", "application/at+jwt"]);
const MAX_KID_LENGTH = 256;

/**
 * Reads the header of a token in canonical form: three segments of base64url without padding or spare bits, and a JSON
 * object without extensions. Returns `null` for anything else, before any cryptography.
 */
export class HeaderReader {
  readonly #wantsAccessType: boolean;
  /** Tokens of one issuer usually share the header, so the last one is cached. */
  #last: { readonly segment: string; readonly header: TokenHeader | null } = { segment: "", header: null };

  constructor(wantsAccessType: boolean) {
    this.#wantsAccessType = wantsAccessType;
  }

  read(token: string): TokenHeader | null {
    const match = SEGMENTS.exec(token);
    if (match === null) return null;
    const [, segment = "", payload = "", signature = ""] = match;
    if (!isCanonical(segment) || !isCanonical(payload) || !isCanonical(signature)) return null;
    if (segment !== this.#last.segment) this.#last = { segment, header: parseHeader(segment, this.#wantsAccessType) };
    return this.#last.header;
  }
}

function parseHeader(segment: string, wantsAccessType: boolean): TokenHeader | null {
  const header = parseObject(Buffer.from(segment, "base64url"));
  if (header === null) return null;
  const alg = own(header, "alg");
  const kid = own(header, "kid");
  if (typeof alg !== "string") return null;
  if (kid !== undefined && (typeof kid !== "string" || kid.length > MAX_KID_LENGTH)) return null;
  if (["crit", "b64", "zip", "enc"].some((name) => Object.hasOwn(header, name))) return null;
  return isAccessType(own(header, "typ"), wantsAccessType) ? { alg, kid } : null;
}

/** Parses a JSON object in strict UTF-8. Returns `null` for anything else. */
export function parseObject(bytes: Uint8Array): Readonly<Record<string, unknown>> | null {
  if (!isUtf8(bytes)) return null;
  const { value } = readJson(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString());
  return typeof value === "object" && !Array.isArray(value) ? (value as Record<string, unknown> | null) : null;
}

/** Returns an own member, because inherited members were not in the token. */
export function own(object: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/** Whether the unused bits of the last character are zero. Otherwise two texts would decode to one token. */
function isCanonical(segment: string): boolean {
  const rest = segment.length % 4;
  if (rest === 0) return true;
  if (rest === 1) return false;
  return ALPHABET.indexOf(segment.at(-1) as string) % (rest === 2 ? 16 : 4) === 0;
}

function isAccessType(typ: unknown, wantsAccessType: boolean): boolean {
  if (typ === undefined) return !wantsAccessType;
  if (typeof typ !== "string") return false;
  const type = typ.toLowerCase();
  return ACCESS_TYPES.has(type) && !(wantsAccessType && type === "jwt");
}
