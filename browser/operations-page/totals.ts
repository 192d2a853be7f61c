import type { OperationFigures, RouteFigures } from "../../src/observe/metrics-figures.ts";

/** The kind of the rows that the page shows. */
export type Kind = "operations" | "routes";
/** The totals of each operation and each route at one time. */
export interface Sample extends Readonly<Record<Kind, ReadonlyMap<string, Row>>> {
  /** In milliseconds since the page was opened. */
  readonly at: number;
}

/** The figures that are added up. */
const SUMMED = ["count", "timed", "errors", "seconds", "cost"] as const;
interface Change extends Record<(typeof SUMMED)[number], number> {
  slowest: number;
}
/** The totals of one operation or route since startup. */
export interface Row extends Readonly<Change> {
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly sockets: number;
}

/** The change from one sample to the next. */
export interface Step extends Change {
  /** In seconds. */
  readonly elapsed: number;
}
/** The totals in the chosen span, and how they changed. */
export interface Span extends Change {
  /** In seconds; `null` since startup. */
  readonly elapsed: number | null;
  readonly steps: Step[];
}
/** The span of one operation or route. */
export interface Entry extends Span {
  readonly name: string;
  /** Since startup. */
  readonly total: Row;
}

const NONE: Readonly<Change> = { count: 0, timed: 0, errors: 0, seconds: 0, cost: 0, slowest: 0 };

/** The rows of a response. */
export function rowsOf(records: Readonly<Record<string, OperationFigures | RouteFigures>>): ReadonlyMap<string, Row> {
  return new Map(Object.entries(records).map(([name, record]) => [name, rowOf(record)]));
}

function rowOf(record: OperationFigures | RouteFigures): Row {
  const { count, errors, slowest_seconds: slowest, average_seconds: average } = record;
  return {
    count,
    // Subscriptions and sockets have no durations, so averages do not include them.
    timed: slowest === 0 ? 0 : count,
    errors,
    seconds: average * count,
    cost: "average_cost" in record ? record.average_cost * count : 0,
    slowest,
    p50: record.p50_seconds,
    p95: record.p95_seconds,
    p99: record.p99_seconds,
    sockets: "open_sockets" in record ? record.open_sockets : 0,
  };
}

/** Whether a total is lower than before: the totals were reset, or another process has responded. */
export function isLower(sample: Sample, before: Sample): boolean {
  return (["operations", "routes"] as const).some((kind) =>
    [...before[kind]].some(([name, { count }]) => (sample[kind].get(name)?.count ?? 0) < count),
  );
}

/** Every operation or route, over the samples or since startup. */
export function entriesOf(samples: readonly Sample[], kind: Kind, isSinceStartup: boolean): readonly Entry[] {
  const last = samples.at(-1);
  if (last === undefined) return [];
  const first = isSinceStartup || samples.length === 1 ? undefined : samples[0];
  return [...last[kind]].map(([name, total]) => ({
    ...(first === undefined ? total : difference(total, first[kind].get(name))),
    name,
    total,
    steps: samples.slice(1).map((sample, index) => {
      const before = samples[index] ?? sample;
      const elapsed = (sample.at - before.at) / 1000;
      return { ...difference(sample[kind].get(name), before[kind].get(name)), elapsed };
    }),
    elapsed: first === undefined ? null : (last.at - first.at) / 1000,
  }));
}

function difference(after: Readonly<Change> = NONE, before: Readonly<Change> = NONE): Change {
  const change = { ...NONE, slowest: after.slowest };
  for (const key of SUMMED) change[key] = after[key] - before[key];
  return change;
}

/** All entries together. Their slowest time is the one since startup. */
export function sum(entries: readonly Entry[]): Span {
  const whole: Span = { ...NONE, elapsed: entries[0]?.elapsed ?? null, steps: [] };
  for (const entry of entries) {
    for (const key of SUMMED) whole[key] += entry[key];
    whole.slowest = Math.max(whole.slowest, entry.total.slowest);
    for (const [index, step] of entry.steps.entries()) {
      const at = (whole.steps[index] ??= { ...NONE, elapsed: step.elapsed });
      for (const key of SUMMED) at[key] += step[key];
    }
  }
  return whole;
}

/** Per second. */
export function rate({ count, elapsed }: Pick<Span, "count" | "elapsed">): number {
  return elapsed === null || elapsed === 0 ? 0 : count / elapsed;
}

/** The average duration in seconds. */
export function average({ timed, seconds }: Pick<Change, "timed" | "seconds">): number {
  return timed === 0 ? 0 : seconds / timed;
}

/** The share with errors. */
export function share({ count, errors }: Pick<Change, "count" | "errors">): number {
  return count === 0 ? 0 : errors / count;
}

/** The figure of each step; a step without operations repeats the figure before it. */
export function held(
  steps: readonly Step[],
  figure: (step: Step) => number,
  of: "count" | "timed" = "count",
): readonly number[] {
  let last = 0;
  return steps.map((step) => {
    if (step[of] !== 0) last = figure(step);
    return last;
  });
}
