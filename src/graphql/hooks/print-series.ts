/** The totals of all operations with one name and one type. */
export interface Series {
  count: number;
  errors: number;
  seconds: number;
  /** The number of operations in each bucket: one bucket per bound, and one for longer operations. */
  readonly buckets: number[];
}

/** Upper bounds of the buckets, in seconds. They are fixed, so that Prometheus can add the buckets of several servers. */
const BOUNDS: readonly number[] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const DURATION = "portico_graphql_operation_duration_seconds";
const ERRORS = "portico_graphql_operation_errors_total";

export function emptySeries(): Series {
  return { count: 0, errors: 0, seconds: 0, buckets: Array.from({ length: BOUNDS.length + 1 }, () => 0) };
}

export function count(series: Series, seconds: number, isOk: boolean): void {
  series.count++;
  series.seconds += seconds;
  if (!isOk) series.errors++;
  let bucket = 0;
  while (seconds > (BOUNDS[bucket] ?? Number.POSITIVE_INFINITY)) bucket++;
  series.buckets[bucket] = (series.buckets[bucket] ?? 0) + 1;
}

export interface LabelledSeries {
  readonly name: string;
  readonly type: string;
  readonly series: Series;
}

/** Prints the series in Prometheus' text format, version 0.0.4. */
export function printSeries(all: readonly LabelledSeries[]): string {
  return [
    `# HELP ${DURATION} Duration of GraphQL operations; for subscriptions, the time that they were open.`,
    `# TYPE ${DURATION} histogram`,
    ...all.flatMap(printHistogram),
    `# HELP ${ERRORS} GraphQL operations whose response had errors.`,
    `# TYPE ${ERRORS} counter`,
    ...all.map((entry) => `${ERRORS}{${labelsOf(entry)}} ${entry.series.errors}`),
    "",
  ].join("\n");
}

function printHistogram(entry: LabelledSeries): readonly string[] {
  const { series } = entry;
  const labels = labelsOf(entry);
  let upTo = 0;
  const buckets = series.buckets.map((inBucket, index) => {
    upTo += inBucket;
    return `${DURATION}_bucket{${labels},le="${BOUNDS[index] ?? "+Inf"}"} ${upTo}`;
  });
  return [...buckets, `${DURATION}_sum{${labels}} ${series.seconds}`, `${DURATION}_count{${labels}} ${series.count}`];
}

function labelsOf({ name, type }: LabelledSeries): string {
  return `operation="${escape(name)}",type="${type}"`;
}

function escape(label: string): string {
  return label.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}
