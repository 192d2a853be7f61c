import { parse as parseCookies } from "cookie-es";
import type { KeyRing } from "../../core/key-ring.ts";

/** The prefix makes browsers keep it to this host, TLS and the whole site. */
export const SESSION_COOKIE = "__Host-portico_session";

/** What a request brought: no cookie of ours; one that proves nothing; or an id that we signed. */
export type PresentedCookie =
  | { readonly kind: "none" }
  | { readonly kind: "bad" }
  | { readonly kind: "signed"; readonly id: string; readonly key: "newest" | "older" };

/** 32 bytes each, as base64url without padding: the id and its signature. */
const FORM = /^([\w-]{43})\.([\w-]{43})$/;

/** The value of the cookie for an id. */
export function sealId(ring: KeyRing, id: string): string {
  return `${id}.${ring.sign(id).toString("base64url")}`;
}

/** Reads the header as it was sent: a second cookie of the name must not hide behind the first. Never throws. */
export function readSessionCookie(ring: KeyRing, header: string | undefined): PresentedCookie {
  const values = sessionCookies(header);
  if (values.length === 0) return { kind: "none" };
  const [, id, signature] = (values.length === 1 ? FORM.exec(values[0] as string) : null) ?? [];
  if (id === undefined || signature === undefined) return { kind: "bad" };
  const bytes = Buffer.from(signature, "base64url");
  // One signature has one spelling: the last character has bits that decoding ignores.
  const key = bytes.toString("base64url") === signature ? ring.verify(id, bytes) : null;
  return key === null ? { kind: "bad" } : { kind: "signed", id, key };
}

/** Whether there is a cookie of the name at all. */
export function hasSessionCookie(header: string | undefined): boolean {
  return sessionCookies(header).length > 0;
}

function sessionCookies(header: string | undefined): readonly string[] {
  // Most requests without one are told apart by this alone.
  if (header === undefined || !header.includes(SESSION_COOKIE)) return [];
  // Only spaces and tabs are trimmed: a name after the byte 0xA0 is another name, which browsers let a subdomain set.
  const { [SESSION_COOKIE]: values = [] } = parseCookies(header, {
    allowMultiple: true,
    filter: (name) => name === SESSION_COOKIE,
    decode: (value) => value,
  });
  return typeof values === "string" ? [values] : values;
}
