import type { DeepFigure, DeepResults } from "../bench/deep.ts";

/** Returns the table of `npm run bench -- deep`: the blocks that a page reads, by its depth. */
export function deepTable({ postgres, rows, figures }: DeepResults): string {
  const lists = Map.groupBy(figures, ({ list }) => list);
  const lines = [...lists].flatMap(([list, found]) =>
    (["forward", "backward"] as const).map((direction) => {
      const along = found.filter((figure) => figure.direction === direction);
      const first = along.filter(({ depth }) => depth === 0);
      const deep = along.filter(({ depth }) => depth > 0);
      return `| ${list}, ${direction} | ${cell(first)} | ${deep.length === 0 ? "" : cell(deep)} |`;
    }),
  );
  return [
    `| Blocks read on PostgreSQL ${postgres}, of ${rows.toLocaleString("en")} rows | first page, or last page backward | deep pages |`,
    "|---|--:|--:|",
    ...lines,
  ].join("\n");
}

/** The blocks of several pages, as a number or a range. */
function cell(found: readonly DeepFigure[]): string {
  const buffers = found.map((figure) => figure.buffers);
  const [least, most] = [Math.min(...buffers), Math.max(...buffers)].map((count) => count.toLocaleString("en"));
  return least === most ? `${most}` : `${least} to ${most}`;
}
