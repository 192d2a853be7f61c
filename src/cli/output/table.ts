import { printable } from "./printable.ts";
import type { Result } from "./result.ts";

/** The headings of a table by their key in a row. */
export type Columns<Row> = { readonly [K in keyof Row]?: string };

/** A result that is a table: one line for each row under a line of headings, or the sentence if there are no rows. */
export function table<Row extends object>(rows: readonly Row[], columns: Columns<Row>, ifEmpty: string): Result {
  return { data: rows, lines: rows.length === 0 ? [ifEmpty] : tableLines(rows, columns) };
}

/** The lines of a table with headings. */
export function tableLines<Row extends object>(rows: readonly Row[], columns: Columns<Row>): readonly string[] {
  const keys = Object.keys(columns) as (keyof Row & string)[];
  return aligned([
    keys.map((key) => String(columns[key]).toUpperCase()),
    ...rows.map((row) => keys.map((key) => cellText(row[key]))),
  ]);
}

/** The lines of one object: a heading and a value on each. */
export function fieldLines<Row extends object>(row: Row, columns: Columns<Row>): readonly string[] {
  const keys = Object.keys(columns) as (keyof Row & string)[];
  return aligned(keys.map((key) => [String(columns[key]), cellText(row[key])]));
}

function aligned(lines: readonly (readonly string[])[]): readonly string[] {
  const cells = lines.map((line) => line.map(printable));
  const widths = (cells[0] ?? []).map((_, at) => Math.max(...cells.map((line) => (line[at] ?? "").length)));
  return cells.map((line) =>
    line
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}

function cellText(value: unknown): string {
  if (value === null || value === undefined || value === "") return "-";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (value instanceof Date) return value.toISOString().slice(0, 19).replace("T", " ");
  if (Array.isArray(value)) return value.join(", ") || "-";
  return typeof value === "string" ? value : JSON.stringify(value);
}
