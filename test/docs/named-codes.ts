import { read } from "../../scripts/package/repository.ts";
import { withoutBlocks } from "./markdown.ts";

/** An error code that a page names. */
export interface NamedCode {
  /** `docs/errors.md:7`. */
  readonly at: string;
  /** In capitals, as in the source. */
  readonly code: string;
}

const SPELLED_LIKE_A_CODE = /`([A-Z]+(?:_[A-Z0-9]+)+)`/g;
const AFTER_A_STATUS = /\b[45]\d\d `([A-Z_]+|[a-z_]+)`/g;
const ALONE = /`([A-Z_]+|[a-z_]+)`/g;

/** Every word in the text that is spelled like a code, follows a status, or stands in a column of codes. */
export function namedCodes(page: string): readonly NamedCode[] {
  let column = -1;
  return withoutBlocks(read(page))
    .split("\n")
    .flatMap((line, i, lines) => {
      const cells = line.startsWith("|") ? line.split("|") : [];
      if (cells.length === 0) column = -1;
      else if (lines[i + 1]?.startsWith("|--") === true) column = cells.findIndex((cell) => /\bcode`?\b/i.test(cell));
      const inColumn = lines[i + 1]?.startsWith("|--") === true ? "" : (cells[column] ?? "");
      return [...line.matchAll(SPELLED_LIKE_A_CODE), ...line.matchAll(AFTER_A_STATUS), ...inColumn.matchAll(ALONE)].map(
        ([, code = ""]) => ({ at: `${page}: ${code}`, code: code.toUpperCase() }),
      );
    });
}

/** What samples name themselves: the codes that they throw, and their environment variables. */
export function namesOfSamples(file: string): readonly string[] {
  const text = read(file);
  return [
    ...text.matchAll(/\bcode: "([A-Z_]+)"/g),
    ...text.matchAll(/\bsuper\("([A-Z_]+)"/g),
    ...text.matchAll(/\benv\(\s*"([A-Z_]+)"/g),
    ...text.matchAll(/\bprocess\.env(?:\["|\.)([A-Z_]+)/g),
  ].map(([, name = ""]) => name);
}
