/**
 * Fills a path such as `/books/{id}`. Throws `TypeError` for a value that isn't text or a number, and for one that makes a
 * segment empty, `.` or `..`: URLs have no escape for these, so the request would go to another path.
 */
export function fillPath(template: string, values: Readonly<Record<string, unknown>>): string {
  return template.replace(/[^/]*\{[^/]*/g, (segment) => {
    const filled = segment.replace(/\{([^{}]+)\}/g, (_, name: string) => encoded(template, name, values[name]));
    if (/^\.{0,2}$/.test(filled))
      throw new TypeError(`the path parameters of ${template} must not make a segment ${JSON.stringify(filled)}`);
    return filled;
  });
}

function encoded(template: string, name: string, value: unknown): string {
  const text = typeof value === "string" ? value : PRINTED.includes(typeof value) ? String(value) : "";
  if (text !== "" && text.isWellFormed()) return encodeURIComponent(text);
  const received = typeof value === "string" ? JSON.stringify(value) : String(value);
  throw new TypeError(
    `the path parameter "${name}" of ${template} must be a non-empty text or a number, not ${received}`,
  );
}

const PRINTED: readonly string[] = ["number", "bigint", "boolean"];
