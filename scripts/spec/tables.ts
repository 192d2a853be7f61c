/** A heading of a specification file with the ids in the first column of the tables under it. */
export interface Chapter {
  readonly title: string;
  readonly ids: readonly string[];
}

/** The cells of every row of every Markdown table in `markdown`, without headers and rulers. */
export function tableRows(markdown: string): string[][] {
  return markdown.split("\n").flatMap((line) => {
    const cells = cellsOf(line);
    return cells === undefined ? [] : [cells];
  });
}

/** The second-level headings of `markdown` that hold at least one table row. Throws on an id that stands twice. */
export function chapters(markdown: string): Chapter[] {
  const found: Chapter[] = [];
  const seen = new Set<string>();
  for (const section of markdown.split(/^## /m).slice(1)) {
    const title = section.slice(0, section.indexOf("\n")).trim();
    const ids = tableRows(section).map(([id = ""]) => id);
    for (const id of ids) {
      if (seen.has(id)) throw new Error(`"${id}" stands twice in the tables`);
      seen.add(id);
    }
    if (ids.length > 0) found.push({ title, ids });
  }
  return found;
}

function cellsOf(line: string): string[] | undefined {
  if (!line.startsWith("|")) return undefined;
  const cells = line
    .split(/(?<!\\)\|/)
    .slice(1, -1)
    .map((cell) => cell.trim());
  const isHeading = cells[0] === "id" || /^:?-+:?$/.test(cells[0] ?? "");
  return isHeading ? undefined : cells;
}
