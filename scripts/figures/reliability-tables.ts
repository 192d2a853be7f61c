import type { OverloadResults } from "../../bench/overload.ts";
import type { FaultResults } from "../soak/faults/fault-run.ts";

/** The content of `bench/results/reliability.json`. */
export interface ReliabilityResults {
  readonly node: string;
  readonly day: string;
  readonly faults: FaultResults;
  readonly fuzz: { readonly inputs: number; readonly seconds: number; readonly failures: number };
  readonly overload: OverloadResults;
}

const whole = (count: number): string => count.toLocaleString("en");
const sum = (counts: Readonly<Record<string, number>>): number => Object.values(counts).reduce((a, b) => a + b, 0);

/** What was tried, how often and what was lost; then how often each fault was injected. */
export function reliabilityTables({ node, day, faults, fuzz, overload }: ReliabilityResults): string {
  const { injected, writes, identities, recoveredMs, violations } = faults;
  const during = Object.values(overload.routes).map((route) => route.during);
  const flooded = during.reduce((count, { outcomes }) => count + sum(outcomes), 0);
  const unanswered = during.reduce(
    (count, { outcomes }) => count + (outcomes["timeout"] ?? 0) + (outcomes["closed"] ?? 0),
    0,
  );
  const untimed = during.reduce((count, { withoutRetryAfter }) => count + withoutRetryAfter, 0);
  const rows: readonly (readonly [tried: string, times: number, lost: string])[] = [
    ["Faults injected while clients send requests", sum(injected), recovery(recoveredMs)],
    ["Actions of those clients", faults.actions, `${whole(faults.unexpected)} undocumented outcomes`],
    ["Acknowledged writes", writes.acknowledged, `${whole(writes.lost)} lost`],
    [
      "Writes of any outcome",
      writes.acknowledged + writes.unsure + writes.refused,
      `${whole(writes.repeated)} carried out twice`,
    ],
    ["Rejected writes", writes.refused, `${whole(writes.refusedDone)} carried out`],
    [
      "Responses and events that name the caller",
      identities.checked,
      `${whole(identities.mistaken)} name another user`,
    ],
    [
      "Responses 200 or 401 to a valid session or token",
      identities.checked + identities.refused,
      `${whole(identities.refused)} with 401`,
    ],
    ["Fuzzed inputs", fuzz.inputs, `${whole(fuzz.failures)} failures`],
    [
      "Requests at three times the peak load",
      flooded,
      `${whole(unanswered)} without a response, ${whole(untimed)} rejected without \`Retry-After\`; the server still does ${Math.round(100 * overload.share)}% of its peak`,
    ],
  ];
  return [
    `| ${day}, Node ${node.slice(1)} | How often | Lost or wrong |`,
    "|---|--:|---|",
    ...rows.map(([tried, times, lost]) => `| ${tried} | ${whole(times)} | ${lost} |`),
    "",
    ...(violations.length === 0
      ? ["The checks of the soak found nothing else."]
      : ["The checks of the soak also reported:", "", ...violations.map((sentence) => `- ${inline(sentence)}`)]),
    "",
    "| Fault | How often |",
    "|---|--:|",
    ...Object.entries(injected).map(([name, times]) => `| ${name[0]?.toUpperCase()}${name.slice(1)} | ${times} |`),
  ].join("\n");
}

function recovery(recoveredMs: number | null): string {
  return recoveredMs === null
    ? "**no recovery** within 15 s of the last one"
    : `every kind of request works ${(recoveredMs / 1_000).toFixed(1)} s after the last one`;
}

/** Markup in a message must not become markup of the page. */
function inline(sentence: string): string {
  return `\`${sentence.replaceAll("`", "'").replaceAll(/\s+/g, " ").slice(0, 200)}\``;
}
