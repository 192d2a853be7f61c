import type { Failure } from "./fuzz-run.ts";
import type { Input } from "./input.ts";
import type { Tally } from "./tally.ts";

const COLUMNS = [
  "inputs",
  "requests",
  "KiB",
  "cpu ms/input",
  "longest delay ms",
  "longest gc ms",
  "slowest probe ms",
] as const;
const SHOWN_BYTES = 1_500;

/** One line for each generator. */
export function table(tallies: ReadonlyMap<string, Tally>): string {
  const heading = ["generator".padEnd(14), ...COLUMNS, "responses"].join("  ");
  const rows = [...tallies].map(([name, tally]) => {
    const cells = [
      tally.inputs,
      tally.requests,
      Math.round(tally.bytes / 1_024),
      (tally.cpuMs / tally.inputs).toFixed(2),
      tally.longestDelayMs.toFixed(),
      tally.longestCollectionMs.toFixed(),
      tally.slowestProbeMs.toFixed(),
    ].map((cell, index) => String(cell).padStart(COLUMNS[index]?.length ?? 0));
    return [name.padEnd(14), ...cells, responses(tally)].join("  ");
  });
  return [heading, ...rows].join("\n");
}

function responses({ statuses }: Tally): string {
  return Object.entries(statuses)
    .toSorted(([, a], [, b]) => b - a)
    .map(([status, count]) => `${status}: ${count}`)
    .join(", ");
}

/** A failure, with the way to repeat it. */
export function describeFailure(failure: Failure, file: string): string {
  const { generator, check, detail, replay, inputs } = failure;
  const repeat = replay === null ? "only the whole group fails" : `npm run fuzz -- --replay ${replay}`;
  const shown = inputs.length === 1 && inputs[0] !== undefined ? `\n${showInput(inputs[0])}` : "";
  return `failure: ${generator}: ${check}: ${detail}\n  ${repeat}, or --replay ${file}${shown}`;
}

export function showInput({ pieces, ending, copies = 1 }: Input): string {
  const text = pieces.map(
    ({ bytes, awaitsReply }) =>
      `  ${JSON.stringify(bytes.toString("latin1"))}${awaitsReply ? " (waits for a reply)" : ""}`,
  );
  const all = text.join("\n");
  const brief = all.length > SHOWN_BYTES ? `${all.slice(0, SHOWN_BYTES)}…` : all;
  return `${brief}\n  then ${ending}${copies > 1 ? `, over ${copies} connections` : ""}`;
}
