import type { Figures } from "./figures.ts";
import type { Sample } from "./verdict.ts";

type Column = readonly [heading: string, cell: (sample: Sample, before: Sample | undefined) => string];

const megabytes = (bytes: number): string => (bytes / 1024 ** 2).toFixed(1);

const columns: readonly Column[] = [
  ["seconds", ({ seconds }) => seconds.toFixed(0)],
  ["actions", ({ traffic }) => String(traffic.actions)],
  ["heap MB", ({ figures }) => megabytes(figures.heap)],
  ["rss MB", ({ figures }) => megabytes(figures.rss)],
  ["cpu %", percent(({ cpuMicros }) => cpuMicros)],
  ["starved %", percent(({ starvedMicros }) => starvedMicros)],
  ["delay ms", ({ figures }) => figures.delayMs.toFixed(0)],
  ["slowest ms", ({ traffic }) => traffic.slowestMs.toFixed(0)],
  ["connections", ({ figures }) => String(figures.connections)],
  ["dependencies", ({ figures }) => String(figures.dependencies)],
  ["iterators", ({ figures }) => String(figures.iterators)],
  ["pool", ({ figures: { pool } }) => `${pool.connections - pool.idle}/${pool.connections}+${pool.waiting}`],
  ["permits", ({ figures }) => String(figures.pool.permits)],
  ["descriptors", ({ figures }) => String(figures.descriptors)],
  ["handles", ({ figures }) => String(Object.values(figures.resources).reduce((sum, count) => sum + count, 0))],
  ["contexts", ({ figures }) => String(figures.alive["contexts"] ?? 0)],
  ["stored", ({ figures }) => String(figures.stored ?? "-")],
  ["faults", ({ figures, traffic }) => String(figures.mishaps.length + traffic.faults.length)],
];

export function headings(): string {
  return columns.map(([heading]) => heading).join("  ");
}

/** One line of the table; `before` is the sample of the line above. */
export function row(sample: Sample, before: Sample | undefined): string {
  return columns.map(([heading, cell]) => cell(sample, before).padStart(heading.length)).join("  ");
}

/** How much of the time since the sample before was spent on what `micros` counts. */
function percent(micros: (figures: Figures) => number): Column[1] {
  return ({ figures, seconds }, before) => {
    if (before === undefined) return "-";
    const spent = (micros(figures) - micros(before.figures)) / 1e6;
    return ((100 * spent) / (seconds - before.seconds)).toFixed(0);
  };
}
