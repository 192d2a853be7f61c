import { parse as parseCookies } from "cookie-es";
import type { KeyRing } from "../../core/key-ring.ts";

/** The `__Host-` prefix makes browsers require TLS, this exact host and the path `/`. */
export const SESSION_COOKIE = "__Host-portico_session";

/** The session cookie of a request: none, an invalid one, or a signed id. */
export type PresentedCookie =
  | { readonly kind: "none" }
  | { readonly kind: "bad" }
  | { readonly kind: "signed"; readonly id: string; readonly key: "newest" | "older" };

/** The id and its signature, 32 bytes each, as base64url without padding. */
const FORM = /^([\w-]{43})\.([\w-]{43})$/;

/** Returns the cookie value for an id. */
export function sealId(ring: KeyRing, id: string): string {
  return `${id}.${ring.sign(id).toString("base64url")}`;
}

/** Reads the raw header, so that a second cookie with this name is detected and rejected. Never throws. */
export function readSessionCookie(ring: KeyRing, header: string | undefined): PresentedCookie {
  const values = sessionCookies(header);
  if (values.length === 0) return { kind: "none" };
  const [, id, signature] = (values.length === 1 ? FORM.exec(values[0] as string) : null) ?? [];
  if (id === undefined || signature === undefined) return { kind: "bad" };
  const bytes = Buffer.from(signature, "base64url");
  // Rejects other spellings of the signature: decoding ignores some bits of the last character.
  const key = bytes.toString("base64url") === signature ? ring.verify(id, bytes) : null;
  return key === null ? { kind: "bad" } : { kind: "signed", id, key };
}

/** Whether the header contains a session cookie at all. */
export function hasSessionCookie(header: string | undefined): boolean {
  return sessionCookies(header).length > 0;
}

function sessionCookies(header: string | undefined): readonly string[] {
  // A fast path for the many requests without a session cookie.
  if (header === undefined || !header.includes(SESSION_COOKIE)) return [];
  // The parser trims only spaces and tabs: a name after the byte 0xA0 is a different name, which a subdomain can set.
  const { [SESSION_COOKIE]: values = [] } = parseCookies(header, {
    allowMultiple: true,
    filter: (name) => name === SESSION_COOKIE,
    decode: (value) => value,
  });
  return typeof values === "string" ? [values] : values;
}
