/** Whether an `Accept-Encoding` header names a coding; `q=0` excludes it. */
export function acceptsEncoding(header: string | undefined, coding: "gzip" | "br"): boolean {
  if (header === undefined) return false;
  return header.split(",").some((entry) => {
    const [name = "", ...parameters] = entry.split(";");
    if (name.trim().toLowerCase() !== coding) return false;
    return !parameters.some((parameter) => /^\s*q\s*=\s*0(?:\.0*)?\s*$/i.test(parameter));
  });
}

/** Whether an `If-None-Match` header contains the tag, by weak comparison (RFC 9110 section 13.1.2). */
export function matchesTag(header: string | undefined, tag: string): boolean {
  return header !== undefined && header.split(",").some((entry) => entry.trim().replace(/^W\//, "") === tag);
}
