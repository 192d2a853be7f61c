import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

const VERSIONS = { before: "before/src", after: "after" } as const;

/** Each part of the application, and the folders that hold it in either version. */
const PARTS = {
  "users and auth": ["users", "auth"],
  projects: ["projects"],
  tasks: ["tasks"],
  "application, database, common": [".", "database", "common"],
} as const;

/** The files and the lines of code of a part, without blank lines and comments. */
export interface Size {
  readonly files: number;
  readonly lines: number;
}

/** The rows of the table in the README: a part of the application, and its size in each version. */
export function countLines(): readonly (readonly [part: string, before: Size, after: Size])[] {
  const rows = Object.entries(PARTS).map(
    ([part, folders]) => [part, sizeOf("before", folders), sizeOf("after", folders)] as const,
  );
  const total = (version: 1 | 2): Size => ({
    files: rows.reduce((sum, row) => sum + row[version].files, 0),
    lines: rows.reduce((sum, row) => sum + row[version].lines, 0),
  });
  return [...rows, ["total", total(1), total(2)]];
}

/** The table in Markdown. */
export function linesTable(): string {
  return [
    "| part | files before | files after | lines before | lines after |",
    "|---|--:|--:|--:|--:|",
    ...countLines().map(
      ([part, { files, lines }, after]) => `| ${part} | ${files} | ${after.files} | ${lines} | ${after.lines} |`,
    ),
  ].join("\n");
}

function sizeOf(version: keyof typeof VERSIONS, folders: readonly string[]): Size {
  const root = join(import.meta.dirname, VERSIONS[version]);
  const texts = folders.flatMap((folder) =>
    globSync(join(root, folder, "*.ts")).map((file) => readFileSync(file, "utf8")),
  );
  return { files: texts.length, lines: texts.reduce((sum, text) => sum + linesOfCode(text), 0) };
}

function linesOfCode(text: string): number {
  return text.split("\n").filter((line) => !/^\s*(?:$|\/\/|\/\*\*|\*)/.test(line)).length;
}

if (import.meta.main) console.log(linesTable());
