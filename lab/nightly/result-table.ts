import type { Part } from "./part.ts";
import type { Results } from "./results.ts";

/** One line for each part: its result, figure, time and day. Those that have just run come with an asterisk. */
export function resultTable(parts: readonly Part[], results: Results, ran: readonly string[]): string {
  const rows = parts.map(({ name }) => {
    const result = results[name];
    if (result === undefined) return [name, "never", "", "", ""];
    const { outcome, seconds, day, figure } = result;
    return [`${name}${ran.includes(name) ? " *" : ""}`, outcome, time(seconds), day, figure];
  });
  const table = [["part", "result", "time", "day", "figure"], ...rows];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...table.map((row) => row[column]?.length ?? 0)));
  return table
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** `45 s` or `12 min`. */
export function time(seconds: number): string {
  return seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
}
