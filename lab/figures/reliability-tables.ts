import type { Traffic } from "../bench/overload/traffic.ts";
import { haveClientsKeptUp, type OverloadResults } from "../bench/overload.ts";
import type { KeptFaultResults } from "../soak/faults/fault-run.ts";

/** The content of `lab/bench/results/reliability.json`. */
export interface ReliabilityResults {
  readonly node: string;
  readonly faults: KeptFaultResults & Dated;
  readonly fuzz: { readonly inputs: number; readonly seconds: number; readonly failures: number } & Dated;
  readonly overload: OverloadResults & Dated;
}

/** Each part can be measured on its own. */
interface Dated {
  readonly day: string;
}

const whole = (count: number): string => count.toLocaleString("en");
const sum = (counts: Readonly<Record<string, number>>): number => Object.values(counts).reduce((a, b) => a + b, 0);

/** What was tried, how often and what was lost; then the overload by route, and how often each fault was injected. */
export function reliabilityTables({ node, faults, fuzz, overload }: ReliabilityResults): string {
  const { injected, writes, identities, recoveredMs, violations, quiet } = faults;
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
  ];
  return [
    `| Node ${node.slice(1)} | How often | Lost or wrong |`,
    "|---|--:|---|",
    ...rows.map(([tried, times, lost]) => `| ${tried} | ${whole(times)} | ${lost} |`),
    "",
    `The faults took ${minutes(faults.seconds)} minutes on ${faults.day}, the load after them ${Math.round(quiet.seconds)} s, and the fuzzing ${minutes(fuzz.seconds)} minutes on ${fuzz.day}. ` +
      `Other programs used the machine as well: during the load, the server waited for a core for ${percent(quiet.starvedShare)} of the time.`,
    "",
    ...(violations.length === 0
      ? ["No other check failed."]
      : ["Other checks that failed:", "", ...violations.map((sentence) => `- ${inline(sentence)}`)]),
    "",
    ...overloadTable(overload),
    "",
    ...faultList(injected),
  ].join("\n");
}

/** One entry for all faults that were injected equally often. */
function faultList(injected: Readonly<Record<string, number>>): readonly string[] {
  const groups = Map.groupBy(Object.entries(injected), ([, times]) => times);
  return [...groups].map(
    ([times, faults]) => `- Injected ${whole(times)} times each: ${faults.map(([name]) => name).join(", ")}.`,
  );
}

function overloadTable({ routes: all, day }: ReliabilityResults["overload"]): readonly string[] {
  const routes = Object.entries(all).filter(([, route]) => haveClientsKeptUp(route));
  const late = Object.keys(all).filter((path) => !routes.some(([known]) => known === path));
  const lateOnes = late.map((path) => `\`${path}\``).join(" and ");
  const excuse = `The overload of ${lateOnes} could not be measured, because the clients themselves waited for a core.`;
  if (routes.length === 0) return [excuse];
  return [
    `| Requests on ${day} | How many | Successful | p99 of those | Rejected with 503 | No response within 3 s |`,
    "|---|--:|--:|--:|--:|--:|",
    ...routes.flatMap(([path, { peak, during, after, others }]) => [
      overloadRow(`\`${path}\`, at its peak`, peak, ""),
      overloadRow(`\`${path}\`, three times as many`, during, ` (${percent(during.goodput / peak.goodput)})`),
      overloadRow(`\`${path}\`, half as many, directly afterwards`, after, ""),
      ...(others === undefined
        ? []
        : [
            overloadRow("Other requests, before the sign-ins", others.before, ""),
            overloadRow("Other requests, during three times as many sign-ins", others.during, ""),
          ]),
    ]),
    "",
    ...(late.length === 0 ? [] : [excuse, ""]),
    "![The successful responses of each route at three times its peak load, as a share of the peak](../lab/bench/results/reliability.svg)",
  ];
}

function overloadRow(name: string, sent: Traffic, share: string): string {
  const { 503: rejected = 0, timeout = 0, closed = 0 } = sent.outcomes;
  const untimed = sent.withoutRetryAfter === 0 ? "" : `, ${whole(sent.withoutRetryAfter)} without \`Retry-After\``;
  const goodput = `${sent.goodput.toFixed(0)} per second${share}`;
  return `| ${name} | ${whole(sum(sent.outcomes))} | ${goodput} | ${sent.p99Ms.toFixed(0)} ms | ${whole(rejected)}${untimed} | ${whole(timeout + closed)} |`;
}

function minutes(seconds: number): string {
  return (seconds / 60).toFixed(0);
}

function percent(share: number): string {
  return `${Math.round(100 * share)}%`;
}

function recovery(recoveredMs: number | null): string {
  return recoveredMs === null
    ? "**no recovery** within 15 s of the last one"
    : `recovered ${(recoveredMs / 1_000).toFixed(1)} s after the last fault`;
}

/** Markup in a message must not become markup of the page. */
function inline(sentence: string): string {
  return `\`${sentence.replaceAll("`", "'").replaceAll(/\s+/g, " ").slice(0, 200)}\``;
}
