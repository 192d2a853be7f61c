import { printable } from "./printable.ts";
import { wrap } from "./wrap.ts";

/** The headings of a table by their key in a row. */
export type Columns<Row> = { readonly [K in keyof Row]?: string };

/**
 * The lines of a table with headings.
 *
 * @param width the columns of the terminal; `null` for a pipe, whose reader looks for whole cells
 */
export function tableLines<Row extends object>(
  rows: readonly Row[],
  columns: Columns<Row>,
  width: number | null = null,
): readonly string[] {
  const keys = Object.keys(columns) as (keyof Row & string)[];
  const lines = [
    keys.map((key) => String(columns[key]).toUpperCase()),
    ...rows.map((row) => keys.map((key) => cellText(row[key]))),
  ];
  return aligned(lines, width);
}

/** The lines of one object: a heading and a value on each. */
export function fieldLines<Row extends object>(row: Row, columns: Columns<Row>): readonly string[] {
  const keys = Object.keys(columns) as (keyof Row & string)[];
  return aligned(keys.map((key) => [String(columns[key]), cellText(row[key])]));
}

/** @param width the columns that the lines may take; cells that are too long are wrapped */
function aligned(lines: readonly (readonly string[])[], width: number | null = null): readonly string[] {
  const cells = lines.map((line) => line.map(printable));
  const widths = (cells[0] ?? []).map((_, at) => Math.max(...cells.map((line) => (line[at] ?? "").length)));
  if (width !== null) narrow(widths, width - GAP.length * (widths.length - 1));
  return cells.flatMap((line) => {
    const wrapped = line.map((cell, at) => wrap(cell, widths[at] ?? 0));
    const height = Math.max(...wrapped.map((parts) => parts.length));
    return Array.from({ length: height }, (_, row) =>
      wrapped
        .map((parts, at) => (parts[row] ?? "").padEnd(widths[at] ?? 0))
        .join(GAP)
        .trimEnd(),
    );
  });
}

const GAP = "  ";
/** A column that is narrower can't be read. The first one has the names, which lines are found by. */
const NARROWEST = 8;
const NARROWEST_NAME = 36;

/** Takes from the widest column until all of them fit. */
function narrow(widths: number[], room: number): void {
  for (let over = widths.reduce((sum, one) => sum + one, 0) - room; over > 0; over--) {
    const spares = widths.map((width, at) => width - (at === 0 ? NARROWEST_NAME : NARROWEST));
    const most = spares.indexOf(Math.max(...spares));
    if ((spares[most] ?? 0) <= 0) return;
    widths[most] = (widths[most] ?? 0) - 1;
  }
}

function cellText(value: unknown): string {
  if (value === null || value === undefined || value === "") return "-";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (value instanceof Date) return value.toISOString().slice(0, 19).replace("T", " ");
  if (Array.isArray(value)) return value.join(", ") || "-";
  return typeof value === "string" ? value : JSON.stringify(value);
}
