import { existsSync } from "node:fs";
import { join, posix } from "node:path";
import { anchorOf } from "../../docs/.vitepress/anchor-of.ts";
import { read, root } from "../../scripts/package/repository.ts";

/** What stands in backticks in a page, in the text and in blocks: where a reference names things. */
export function codeOf(page: string): string {
  const text = read(page);
  const blocks = [...text.matchAll(/^```[^\n]*\n(.*?)^```/gms)].map(([, code]) => code);
  const spans = [...withoutBlocks(text).matchAll(/`([^`\n]+)`/g)].map(([, code]) => code);
  return [...blocks, ...spans].join("\n");
}

/** The rows of the first table of a page, cell by cell, without its head. */
export function tableOf(page: string): readonly (readonly string[])[] {
  return rowsOf(/(?:^\|.*\n)+/m.exec(read(page))?.[0] ?? "").slice(2);
}

/** A table of options, whose first column is headed "option". */
export interface OptionTable {
  /** `docs/reference/app.md: option (AppOptions)`. */
  readonly at: string;
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** The tables of options on a page. */
export function optionTables(page: string): readonly OptionTable[] {
  return (read(page).match(/(?:^\|.*\n)+/gm) ?? [])
    .map(rowsOf)
    .map(([head = [], , ...rows]) => ({ at: `${page}: ${head[0]}`, head, rows }))
    .filter(({ head }) => /^options?\b/i.test(head[0] ?? ""));
}

function rowsOf(table: string): readonly (readonly string[])[] {
  return table
    .trim()
    .split("\n")
    .map((row) =>
      row
        .slice(1, -1)
        .split(/(?<!\\)\|/)
        .map((cell) => cell.trim()),
    );
}

/** The links of a page that lead nowhere: to a file that is not there, or to a heading that the file does not have. */
export function brokenLinks(page: string): readonly string[] {
  const links = [...withoutBlocks(read(page)).matchAll(/\[[^\]]*\]\((?<target>[^)\s]+)\)/g)];
  return links
    .map(({ groups }) => groups?.["target"] ?? "")
    .filter((target) => !/^[a-z]+:/.test(target))
    .filter((target) => {
      const [path = "", heading] = target.split("#");
      const file = path === "" ? page : posix.normalize(posix.join(posix.dirname(page), path));
      if (!existsSync(join(root, file))) return true;
      return heading !== undefined && !anchorsIn(file).includes(heading);
    });
}

/** The anchors of the headings of a page. */
export function anchorsIn(page: string): readonly string[] {
  return [...withoutBlocks(read(page)).matchAll(/^#+ (.+)$/gm)].map(([, title]) => anchorOf(title as string));
}

export function withoutBlocks(text: string): string {
  return text.replace(/^```.*?^```/gms, "");
}
