import { createHash } from "node:crypto";

/**
 * The headers of a page: it may load and run what the given directives list, talk to its own server, and nothing else. It
 * cannot be framed.
 */
export function htmlHeaders(directives: Readonly<Record<string, readonly string[]>>): Readonly<Record<string, string>> {
  const listed = Object.entries(directives).map(([name, sources]) => `${name} ${sources.join(" ")}`);
  return {
    "content-security-policy": [
      "default-src 'none'",
      ...listed,
      "connect-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ].join("; "),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "private, no-cache",
  };
}

/** The source expression that lets a script or a style in by its text. */
export function sourceHash(text: string): string {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}
