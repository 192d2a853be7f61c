import { createHash } from "node:crypto";

/**
 * The headers of an HTML page. It may only load and run what the given directives list and connect to its own server, and it
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

/** The CSP source expression for an inline script or style. */
export function sourceHash(text: string): string {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}
