import { setTimeout as sleep } from "node:timers/promises";
import { Child } from "../../servers/child.ts";
import type { ServerProcess } from "../server-process.ts";
import { someOf } from "../verdict.ts";
import { checkWrites, type WriteCheck } from "./acknowledged-writes.ts";
import { hasOutage } from "./documented-outcomes.ts";
import type { FaultClientSettings, FaultOrder, FaultTraffic } from "./fault-client.ts";
import type { FaultPlace } from "./fault-place.ts";
import { type FaultKind, RECOVERY_MS } from "./fault-windows.ts";
import { faults } from "./faults.ts";

export interface FaultRunOptions {
  readonly kinds: readonly FaultKind[];
  /** Every fault happens at least once, however short this is. */
  readonly seconds: number;
  /** Actions in a second. */
  readonly rate: number;
}

/** What a run with faults did and found. */
export interface FaultResults {
  readonly seconds: number;
  /** How often each fault was injected, by its name. */
  readonly injected: Readonly<Record<string, number>>;
  readonly actions: number;
  readonly statuses: Readonly<Record<number, number>>;
  /** Failures that are documented, by their kind. */
  readonly documented: Readonly<Record<string, number>>;
  /** Responses that are not documented for the fault. */
  readonly unexpected: number;
  readonly writes: Omit<WriteCheck, "violations"> & {
    readonly acknowledged: number;
    readonly unsure: number;
    readonly refused: number;
  };
  readonly identities: { readonly checked: number; readonly mistaken: number; readonly refused: number };
  readonly recoveredMs: number | null;
  /** A sentence for each kind. */
  readonly violations: readonly string[];
}

/** What `.cache/soak-faults.json` contains after a run. */
export interface KeptFaultResults extends FaultResults {
  /** The load after the faults, and the share of its time for which the server waited for a core. */
  readonly quiet: { readonly seconds: number; readonly starvedShare: number };
}

const CLIENT = new URL("fault-client.ts", import.meta.url);
const GAP_MS = 800;
const EXIT_MS = 5_000;

/** Breaks one thing after the other while clients write. */
export async function runFaults(
  place: FaultPlace,
  server: ServerProcess,
  { kinds, seconds, rate }: FaultRunOptions,
): Promise<FaultResults> {
  const settings: FaultClientSettings = { port: server.port, rate };
  const client = new Child(CLIENT, settings);
  const injected = new Map<string, number>();
  const wanted = faults.filter(({ kind, isPossible }) => kinds.includes(kind) && isPossible?.(place) !== false);
  const order = (what: FaultOrder): Promise<unknown> => client.ask("noted", what);
  try {
    await client.hear("ready");
    const start = performance.now();
    const since = (): number => (performance.now() - start) / 1_000;
    do {
      for (const fault of wanted) {
        await sleep(GAP_MS);
        await order({ begin: fault.kind });
        const from = since();
        await fault.run(place, server);
        await order({ end: true });
        injected.set(fault.name, (injected.get(fault.name) ?? 0) + 1);
        console.log(`${from.toFixed(1).padStart(7)} to ${since().toFixed(1).padStart(5)} s: ${fault.name}`);
      }
    } while (since() < seconds);
    const heard = client.hear<FaultTraffic>("traffic");
    await order({ finish: true });
    const traffic = await heard;
    await client.ended(EXIT_MS);
    const took = since();
    await server.order({ outages: false });
    const { violations, ...check } = await checkWrites(place.postgres.url, traffic.writes);
    report(traffic, took, check.unsureDone);
    const { actions, statuses, excused, faults: wrong, writes, identities, recoveredMs } = traffic;
    return {
      seconds: Math.round(took),
      injected: Object.fromEntries(injected),
      actions,
      statuses,
      documented: excused,
      unexpected: wrong.length,
      writes: { ...lengths(writes), ...check },
      identities: { ...lengths(identities), checked: identities.checked },
      recoveredMs,
      violations: [...verdict(traffic, new Set(kinds)), ...violations],
    };
  } finally {
    client.kill();
  }
}

/** The lengths of the lists in `record`. */
function lengths<T extends object>(record: T): { readonly [Key in keyof T]: number } {
  return Object.fromEntries(
    Object.entries(record).map(([key, list]) => [key, Array.isArray(list) ? list.length : 0]),
  ) as { [Key in keyof T]: number };
}

function verdict(
  { faults: wrong, statuses, excused, identities, recoveredMs }: FaultTraffic,
  kinds: ReadonlySet<FaultKind>,
): readonly string[] {
  return [
    ...(hasOutage(kinds) && Object.keys(excused).length === 0
      ? ["no client noticed a fault: the run proves nothing"]
      : []),
    ...(identities.checked === 0 ? ["no response named its user: the run proves nothing"] : []),
    ...someOf("a request was taken for another user's", identities.mistaken),
    ...someOf("a valid credential was rejected", identities.refused),
    ...someOf("during faults an answer was wrong", wrong),
    ...(statuses[500] === undefined ? [] : [`${statuses[500]} answers were 500`]),
    ...(recoveredMs === null ? [`the service was not normal ${RECOVERY_MS / 1_000} s after the last fault`] : []),
  ];
}

function report(
  { actions, statuses, excused, writes, identities, recoveredMs }: FaultTraffic,
  seconds: number,
  unsureDone: number,
): void {
  const { acknowledged, unsure, refused } = writes;
  console.log(
    `during faults: ${actions} actions in ${seconds.toFixed(0)} s, answers by status: ${JSON.stringify(statuses)}`,
  );
  console.log(`documented failures: ${JSON.stringify(excused)}`);
  const { checked, mistaken, refused: rejected } = identities;
  console.log(`identities: ${checked} checked, ${mistaken.length} mistaken, ${rejected.length} valid ones rejected`);
  console.log(
    `writes: ${acknowledged.length} acknowledged, ${unsure.length} unsure (${unsureDone} of them are there), ${refused.length} refused; ` +
      `normal ${recoveredMs === null ? "never" : `${(recoveredMs / 1_000).toFixed(1)} s`} after the last fault`,
  );
}
