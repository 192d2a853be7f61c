import { setTimeout as sleep } from "node:timers/promises";
import { pick, World } from "../world.ts";
import type { Writes } from "./acknowledged-writes.ts";
import { Excused } from "./documented-outcomes.ts";
import { type FaultKind, FaultWindows, RECOVERY_MS } from "./fault-windows.ts";
import type { Identities } from "./identity-record.ts";
import { slowClients } from "./slow-clients.ts";
import { type SteadyAction, steadyActions } from "./steady-actions.ts";
import { SteadyClient, TIMEOUT_MS } from "./steady-client.ts";

/** What the clients saw of the faults. */
export interface FaultTraffic {
  readonly actions: number;
  /** Failures that are documented, by their kind. */
  readonly excused: Readonly<Record<string, number>>;
  readonly statuses: Readonly<Record<number, number>>;
  readonly faults: readonly string[];
  readonly writes: Writes;
  readonly identities: Identities;
  /** From the end of the last fault until every kind of request worked; `null` when one did not. */
  readonly recoveredMs: number | null;
}

export interface FaultClientSettings {
  readonly port: number;
  /** Actions in a second. */
  readonly rate: number;
}

/** What the run orders. `finish` comes when the last fault has ended. */
export type FaultOrder = { readonly begin: FaultKind } | { readonly end: true } | { readonly finish: true };

const MAX_AT_ONCE = 60;
const SLOW_AT_ONCE = 30;

// The clients of a run with faults, all in one process.
const { port, rate } = JSON.parse(process.argv[2] ?? "") as FaultClientSettings;
const windows = new FaultWindows();
const client = new SteadyClient(new World(port), windows);
const total = steadyActions.reduce((sum, { weight }) => sum + weight, 0);
const open = new Set<Promise<void>>();
const faults: string[] = [];
const excused = new Map<string, number>();
const stopping = new AbortController();
let actions = 0;
let isSlow = false;

process.on("unhandledRejection", (error) => faults.push(`the clients: ${describe(error)}`));
process.on("uncaughtException", (error) => faults.push(`the clients: ${describe(error)}`));
process.on("message", (order: FaultOrder) => {
  if ("begin" in order) {
    windows.begin(order.begin);
    isSlow ||= order.begin === "slow";
  } else if ("end" in order) {
    windows.end();
    isSlow = false;
  } else stopping.abort();
  process.send?.({ noted: true });
});
await client.signIn();
process.send?.({ ready: true });
await Promise.all([load(), ...Array.from({ length: SLOW_AT_ONCE }, (_, n) => beSlow(n))]);
const recoveredMs = await recovery();
await Promise.race([Promise.all(open), sleep(2 * TIMEOUT_MS, undefined, { ref: false })]);
if (open.size > 0) faults.push(`${open.size} clients were still waiting at the end`);
client.world.agent.destroy();
// The message has megabytes after half an hour, and what is not written yet would be lost.
process.send?.({ traffic: traffic() }, () => process.disconnect());

async function load(): Promise<void> {
  while (!stopping.signal.aborted) {
    await sleep((-Math.log(1 - Math.random()) * 1_000) / rate);
    if (open.size >= MAX_AT_ONCE) await Promise.race(open);
    const action = choose();
    const running = perform(action.name, () => action.run(client)).then(() => {});
    open.add(running);
    void running.finally(() => open.delete(running));
  }
}

async function beSlow(n: number): Promise<void> {
  while (!stopping.signal.aborted) {
    if (isSlow) await perform("slow client", () => (slowClients[n % slowClients.length] ?? pick(slowClients))(client));
    else await sleep(100);
  }
}

/** Tries every kind of request until all of them work in one round. */
async function recovery(): Promise<number | null> {
  const start = performance.now();
  while (performance.now() - start < RECOVERY_MS) {
    const results = await Promise.all(steadyActions.map((action) => perform(action.name, () => action.run(client))));
    if (results.every(Boolean)) return performance.now() - start;
    await sleep(200);
  }
  return null;
}

async function perform(name: string, run: () => Promise<void>): Promise<boolean> {
  actions++;
  const start = performance.now();
  try {
    await run();
    return true;
  } catch (error) {
    if (error instanceof Excused) excused.set(error.message, (excused.get(error.message) ?? 0) + 1);
    else if (faults.length < 1_000) faults.push(`${name}: ${describe(error)} (${windows.between(start)})`);
    return false;
  }
}

function choose(): SteadyAction {
  let place = Math.random() * total;
  return steadyActions.find(({ weight }) => (place -= weight) < 0) ?? (steadyActions[0] as SteadyAction);
}

function traffic(): FaultTraffic {
  return {
    actions,
    excused: Object.fromEntries(excused),
    statuses: Object.fromEntries(client.world.statuses),
    faults,
    writes: client.writes.all,
    identities: client.identities.all,
    recoveredMs,
  };
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : `${error.message}: ${describe(error.cause)}`;
}
