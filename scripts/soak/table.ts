import type { Sample } from "./verdict.ts";

type Column = readonly [heading: string, cell: (sample: Sample, before: Sample | undefined) => string];

const megabytes = (bytes: number): string => (bytes / 1024 ** 2).toFixed(1);

const columns: readonly Column[] = [
  ["seconds", ({ seconds }) => seconds.toFixed(0)],
  ["actions", ({ traffic }) => String(traffic.actions)],
  ["heap MB", ({ figures }) => megabytes(figures.heap)],
  ["rss MB", ({ figures }) => megabytes(figures.rss)],
  ["cpu %", cpu],
  ["delay ms", ({ figures }) => figures.delayMs.toFixed(0)],
  ["slowest ms", ({ traffic }) => traffic.slowestMs.toFixed(0)],
  ["connections", ({ figures }) => String(figures.connections)],
  ["dependencies", ({ figures }) => String(figures.dependencies)],
  ["iterators", ({ figures }) => String(figures.iterators)],
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

function cpu({ figures, seconds }: Sample, before: Sample | undefined): string {
  if (before === undefined) return "-";
  const used = (figures.cpuMicros - before.figures.cpuMicros) / 1e6;
  return ((100 * used) / (seconds - before.seconds)).toFixed(0);
}
