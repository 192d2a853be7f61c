interface Range {
  readonly type: string;
  readonly quality: number;
}

/** The header that was parsed last. A request needs its ranges several times, and the next client often sends the same. */
let parsed: { readonly accept: string; readonly ranges: readonly Range[] } = { accept: "", ranges: [] };

/** The media types in an `Accept` header with their q-values (RFC 9110 section 12.5.1). */
export function parseAccept(accept: string): readonly Range[] {
  if (parsed.accept !== accept) parsed = { accept, ranges: rangesOf(accept) };
  return parsed.ranges;
}

function rangesOf(accept: string): readonly Range[] {
  return accept.split(",").map((range) => {
    // A header that consists of commas has 16,000 ranges, so the common case stays cheap.
    if (!range.includes(";")) return { type: range.trim().toLowerCase(), quality: 1 };
    const [type = "", ...parameters] = range.split(";");
    const quality = parameters
      .map((parameter) => /^\s*q\s*=\s*([\d.]+)\s*$/i.exec(parameter)?.[1])
      .find((q) => q !== undefined);
    return { type: type.trim().toLowerCase(), quality: quality === undefined ? 1 : Math.min(Number(quality) || 0, 1) };
  });
}

/** Takes the quality of the most specific range that matches. */
export function qualityOf(ranges: readonly Range[], type: string): number {
  const family = `${type.slice(0, type.indexOf("/"))}/*`;
  for (const name of [type, family, "*/*"]) {
    const matching = ranges.filter((range) => range.type === name);
    if (matching.length > 0) return Math.max(...matching.map(({ quality }) => quality));
  }
  return 0;
}

/** Whether a browser requests a page: `Accept` names `text/html` and prefers none of the other types to it. */
export function asksForPage(accept: string | undefined, others: readonly string[]): boolean {
  if (accept === undefined) return false;
  const ranges = parseAccept(accept);
  const html = ranges.find(({ type }) => type === "text/html")?.quality ?? 0;
  return html > 0 && others.every((type) => html >= qualityOf(ranges, type));
}
