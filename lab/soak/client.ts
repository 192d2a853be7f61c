import { setTimeout as sleep } from "node:timers/promises";
import { goodRequests } from "./good-requests.ts";
import { hangUps } from "./hang-ups.ts";
import { refusedRequests } from "./refused-requests.ts";
import { signIns } from "./sign-ins.ts";
import { subscribers } from "./subscribers.ts";
import { type Action, World } from "./world.ts";

/** What the clients of a run have done so far. */
export interface Traffic {
  readonly actions: number;
  /** Answers by their status; what broke off counts as 0. */
  readonly statuses: Readonly<Record<number, number>>;
  /** How long an action takes, in milliseconds: 99 of 100 take no longer. */
  readonly slowestMs: number;
  /** What was not answered as it should be. */
  readonly faults: readonly string[];
}

export interface ClientSettings {
  readonly port: number;
  /** Actions in a second. */
  readonly rate: number;
}

/** What the run asks of its clients. */
export type ClientOrder = { readonly tell: true } | { readonly stop: true };

/** Beyond it nothing new is begun: a server that is slower than the load is not buried. */
const MAX_AT_ONCE = 150;
const TIMEOUT_MS = 90_000;
const actions: readonly Action[] = [...goodRequests, ...refusedRequests, ...hangUps, ...subscribers, ...signIns];
const total = actions.reduce((sum, { weight }) => sum + weight, 0);

// The clients of a run, all in one process.
const { port, rate } = JSON.parse(process.argv[2] ?? "") as ClientSettings;
const world = new World(port);
const open = new Set<Promise<void>>();
const faults: string[] = [];
let took: number[] = [];
let done = 0;
const stopping = new AbortController();

process.on("unhandledRejection", (error) => faults.push(`the clients: ${describe(error)}`));
process.on("uncaughtException", (error) => faults.push(`the clients: ${describe(error)}`));
process.on("message", (order: ClientOrder) => {
  if ("tell" in order) process.send?.({ traffic: traffic() });
  else stopping.abort();
});
await begin();
await finish();
process.send?.({ traffic: traffic() }, () => process.disconnect());

async function begin(): Promise<void> {
  for (let due = performance.now(); !stopping.signal.aborted; due += (-Math.log(1 - Math.random()) * 1_000) / rate) {
    const early = due - performance.now();
    if (early > 0) await sleep(early);
    if (open.size >= MAX_AT_ONCE) {
      await Promise.race(open);
      due = performance.now();
    }
    const running = perform(choose());
    open.add(running);
    void running.finally(() => open.delete(running));
  }
}

async function perform(action: Action): Promise<void> {
  const start = performance.now();
  try {
    await action.run(world);
  } catch (error) {
    if (faults.length < 1_000) faults.push(`${action.name}: ${describe(error)}`);
  }
  done++;
  took.push(performance.now() - start);
}

async function finish(): Promise<void> {
  const waited = await Promise.race([Promise.all(open), sleep(TIMEOUT_MS, null, { ref: false })]);
  if (waited === null) faults.push(`${open.size} clients were still waiting ${TIMEOUT_MS / 1000} s after the load`);
  await world.leave().catch((error: unknown) => faults.push(`signing out: ${describe(error)}`));
}

function choose(): Action {
  let place = Math.random() * total;
  return actions.find(({ weight }) => (place -= weight) < 0) ?? (actions[0] as Action);
}

function traffic(): Traffic {
  const slowest = took.toSorted((a, b) => a - b)[Math.floor(took.length * 0.99)] ?? 0;
  took = [];
  return { actions: done, statuses: Object.fromEntries(world.statuses), slowestMs: slowest, faults };
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : `${error.message}: ${describe(error.cause)}`;
}
