import type { AppProcess } from "./app-process.ts";
import { PROBES, type Probe, type Scene, type Seen } from "./cell.ts";
import { doctor } from "./doctor.ts";
import type { Traffic } from "./traffic.ts";

/** What differs from what an operator should see. */
export async function differences(
  app: AppProcess,
  traffic: Traffic,
  { settings }: Scene,
  { probes = {}, ready = 200, isLive = true, checks = [], log, metrics: expected = [] }: Seen,
): Promise<readonly string[]> {
  const sent = PROBES.filter((probe) => probe !== "upload" || settings.uploads !== undefined);
  const [readyz, livez, ...statuses] = await Promise.all([
    app.ask("/readyz"),
    app.ask("/livez"),
    ...sent.map((probe: Probe) => traffic.probe(probe)),
  ]);
  const failed = failedChecks(readyz.text);
  const series = [...checks.map((check) => `portico_check_up{check="${check}"} 0`), ...expected];
  const metrics = series.length === 0 ? "" : (await app.ask("/metrics")).text;
  return [
    ...sent.flatMap((probe, n) => statusFault(`/${probe}`, statuses[n], probes[probe] ?? 200)),
    ...statusFault("/readyz", readyz.status, ready),
    ...statusFault("/livez", livez.status, isLive ? 200 : 0),
    ...(failed.join() === checks.toSorted().join()
      ? []
      : [`/readyz named "${failed.join()}" instead of "${checks.join()}"`]),
    ...[...checks.map((check) => `readiness check failed: ${check}`), ...(log === undefined ? [] : [log])]
      .filter((sentence) => !app.log.includes(sentence))
      .map((sentence) => `no line "${sentence}" in the log`),
    ...series.filter((one) => !hasSeries(metrics, one)).map((one) => `no series ${one} in the metrics`),
  ];
}

/** What takes longer to look at, and does not change any more. */
export async function lateDifferences(scene: Scene, { doctor: finding }: Seen): Promise<readonly string[]> {
  if (finding === undefined) return [];
  const output = await doctor(scene);
  return output.includes(finding) ? [] : [`portico doctor did not print "${finding}" but ${output}`];
}

/** Whether there is a series with this name and value. Labels may be left out, and without a value it is any but 0. */
function hasSeries(metrics: string, series: string): boolean {
  const [name = "", ...expected] = series.split(" ");
  const bound = Number(expected.at(-1));
  return valuesOf(metrics, name).some((value) => {
    if (expected.length === 0) return value !== 0;
    if (expected[0] === "<") return value < bound;
    return expected[0] === ">" ? value > bound : value === bound;
  });
}

function valuesOf(metrics: string, name: string): readonly number[] {
  return metrics
    .split("\n")
    .filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`))
    .map((line) => Number(line.slice(line.lastIndexOf(" "))));
}

function statusFault(path: string, status: number | undefined, expected: number): readonly string[] {
  const isRight = status === expected || (expected === 200 && status === 204);
  return isRight ? [] : [`${path} was ${status} instead of ${expected}`];
}

function failedChecks(body: string): readonly string[] {
  try {
    const { checks } = JSON.parse(body) as { readonly checks: Readonly<Record<string, string>> };
    return Object.keys(checks)
      .filter((name) => checks[name] === "failed")
      .toSorted();
  } catch {
    return [];
  }
}
