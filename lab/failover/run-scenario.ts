import { setTimeout as sleep } from "node:timers/promises";
import { Callers, type Session } from "./callers.ts";
import { FailoverFleet } from "./failover-fleet.ts";
import { fillUsers, NAMES } from "./fill-users.ts";
import { Listeners } from "./listeners.ts";
import type { Scenario } from "./scenario.ts";

const PROCESSES = 4;
const TICK_MS = 250;
const TIMEOUT_MS = 60_000;

export interface Load {
  readonly perSecond: number;
  readonly sockets: number;
  /** Before the fault, and after the recovery. */
  readonly seconds: number;
}

/** What a scenario did to callers. */
export interface Verdict {
  readonly name: string;
  readonly requests: number;
  /** Responses 503, and requests without a response. */
  readonly rejected: number;
  readonly broken: number;
  /** Any other response than the expected ones. */
  readonly unexpected: number;
  readonly mistaken: number;
  /** Responses 401 to an open session. */
  readonly refused: number;
  readonly revived: number;
  readonly sessions: number;
  /** Acknowledged sessions that no longer work, and how long before the fault the oldest of them began. */
  readonly lost: number;
  readonly lossWindowMs: number;
  /** From the fault until every process signs in, knows a session and has sent an event to all of its subscribers. */
  readonly recoveryMs: number;
  readonly reconnects: number;
}

/** Runs four processes under load, makes the fault happen and waits until all works again. */
export async function runScenario(scenario: Scenario, { perSecond, sockets, seconds }: Load): Promise<Verdict> {
  const broken = await scenario.start();
  let fleet: FailoverFleet | null = null;
  let listeners: Listeners | null = null;
  try {
    await fillUsers(broken.place(0).database);
    fleet = await FailoverFleet.start(PROCESSES, (n) => broken.place(n));
    const callers = new Callers(fleet.ports, NAMES);
    listeners = new Listeners(fleet.ports, sockets);
    let tick = 0;
    const ticking = setInterval(() => void callers.tick(tick % PROCESSES, ++tick), TICK_MS);
    const running = callers.run(perSecond);
    await untilAll(async () => (listeners?.since(1) ?? 0) === sockets, "the subscriptions began");
    await sleep(seconds * 1_000);

    const failedAt = performance.now();
    await broken.fail(fleet);
    await recovered(callers, listeners, () => tick, sockets);
    const recoveryMs = performance.now() - failedAt;
    await sleep(seconds * 1_000);
    callers.stop();
    await running;
    clearInterval(ticking);

    const lost = await lostSessions(new Callers(fleet.ports, NAMES), callers.sessions, callers);
    const count = (...statuses: number[]): number =>
      statuses.reduce((total, status) => total + (callers.outcomes.get(status) ?? 0), 0);
    const requests = [...callers.outcomes.values()].reduce((total, times) => total + times, 0);
    return {
      name: scenario.name,
      requests,
      rejected: count(503),
      broken: count(0),
      unexpected: requests - count(200, 204, 401, 503, 0),
      mistaken: callers.mistaken,
      refused: callers.refused,
      revived: callers.revived,
      sessions: callers.sessions.length,
      lost: lost.length,
      lossWindowMs: Math.max(0, ...lost.map(({ at }) => failedAt - at)),
      recoveryMs,
      reconnects: listeners.reconnects,
    };
  } finally {
    listeners?.stop();
    fleet?.stop();
    await broken.remove();
  }
}

/** Until, on each process, a sign-in and its session work, and an event has reached every subscriber. */
async function recovered(callers: Callers, listeners: Listeners, tick: () => number, sockets: number): Promise<void> {
  for (let process = 0; process < PROCESSES; process++)
    await untilAll(async () => {
      if (!(await callers.signIn(process))) return false;
      const session = callers.sessions.at(-1);
      return session !== undefined && (await callers.whoIs(process, session)) === 200;
    }, `process ${process} signed in`);
  const from = tick() + 1;
  await untilAll(async () => listeners.since(from) === sockets, "all subscribers heard an event");
}

async function untilAll(isDone: () => Promise<boolean>, what: string): Promise<void> {
  const end = performance.now() + TIMEOUT_MS;
  while (!(await isDone())) {
    if (performance.now() > end) throw new Error(`it took more than a minute until ${what}`);
    await sleep(50);
  }
}

/** Open sessions that no process knows any more. Those that were ended must not work. */
async function lostSessions(by: Callers, sessions: readonly Session[], record: Callers): Promise<readonly Session[]> {
  const lost: Session[] = [];
  for (const [n, session] of sessions.entries()) {
    const status = await by.whoIs(n % PROCESSES, session);
    if (session.state === "open" && status !== 200) lost.push(session);
  }
  record.mistaken += by.mistaken;
  record.revived += by.revived;
  return lost;
}
