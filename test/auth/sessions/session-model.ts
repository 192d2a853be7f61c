import { equal, notEqual } from "node:assert/strict";
import { createHash } from "node:crypto";
import { type Arbitrary, type AsyncCommand, boolean, constantFrom, nat, tuple } from "fast-check";
import type { ManualClock, TestClient } from "portico/testing";
import type { RecordingStore } from "./recording-store.ts";
import { cookieOf, idOf } from "./session-app.ts";

const MINUTE = 60_000;
const LIFETIMES: Record<"plain" | "remembered", { readonly idle: number; readonly absolute: number }> = {
  plain: { idle: 120 * MINUTE, absolute: 1_440 * MINUTE },
  remembered: { idle: 20_160 * MINUTE, absolute: 43_200 * MINUTE },
};

/** A session that some browser was given. `maybe`: an operation that could have ended it broke off in the middle. */
interface Known {
  readonly cookie: string;
  readonly user: string;
  readonly kind: "plain" | "remembered";
  readonly issuedAt: number;
  /** When it was last noted as used, at the least and at the most: a request that broke off may have noted it. */
  seenAt: number;
  seenAtMost: number;
  state: "live" | "maybe" | "dead";
}
export interface Model {
  now: number;
  /** Every cookie that was ever given out: a thief has them all. */
  readonly known: Known[];
  /** The cookie that each browser holds now. */
  readonly jars: Map<number, Known>;
}
export interface Real {
  readonly clock: ManualClock;
  readonly store: RecordingStore;
  readonly processes: readonly TestClient[];
}
type Command = AsyncCommand<Model, Real>;

const endOf = ({ kind, issuedAt }: Known, seenAt: number): number =>
  Math.min(seenAt + LIFETIMES[kind].idle, issuedAt + LIFETIMES[kind].absolute);

/** Lets time pass over a session: over for certain, or perhaps. */
function age(session: Known, now: number): void {
  if (now >= endOf(session, session.seenAtMost)) session.state = "dead";
  else if (now >= endOf(session, session.seenAt)) doubt(session);
}

/** A use was noted, unless one was within the minute before. */
function noteUse(session: Known, now: number): void {
  if (now - session.seenAtMost >= MINUTE) session.seenAt = now;
  else if (now - session.seenAt >= MINUTE) session.seenAt = session.seenAtMost;
  else return;
  session.seenAtMost = now;
}

/** It is not known how far a request with it came. */
function doubtUse(session: Known | undefined, now: number): void {
  if (session !== undefined && session.state !== "dead") session.seenAtMost = now;
}

/** The result that the model expects of a use, and the state after it. */
function observe(model: Model, session: Known, isSignedIn: boolean): void {
  age(session, model.now);
  if (session.state === "maybe") session.state = isSignedIn ? "live" : "dead";
  equal(isSignedIn, session.state === "live");
  if (isSignedIn) noteUse(session, model.now);
}

const cookies = (session: Known | undefined): { headers: Record<string, string> } => ({
  headers: session === undefined ? {} : { cookie: session.cookie },
});
const handleOf = ({ cookie }: Known): string =>
  createHash("sha256")
    .update(Buffer.from(idOf(cookie), "base64url"))
    .digest("base64url");
const kill = (session: Known | undefined): void => {
  if (session !== undefined) session.state = "dead";
};
const doubt = (session: Known | undefined): void => {
  if (session?.state === "live") session.state = "maybe";
};

/** Runs with a store that dies after so many operations; `null` never. */
async function crashing<T>({ store }: Real, after: number | null, run: () => Promise<T>): Promise<T> {
  let calls = 0;
  store.before = () => {
    if (after !== null && calls++ >= after) throw new Error("the process died");
  };
  try {
    return await run();
  } finally {
    store.before = () => {};
  }
}

function command(name: string, run: (model: Model, real: Real) => Promise<void>): Command {
  return { check: () => true, run, toString: () => name };
}

const browser = nat(3);
const crash = constantFrom(null, null, null, 0, 1, 2, 3, 4, 5, 6, 7, 8);

const login = tuple(browser, constantFrom("ann", "bob"), boolean(), nat(1), crash).map(
  ([jar, user, remember, at, dies]) =>
    command(`login(${jar}, ${user}, ${remember}, dies=${dies})`, async (model, real) => {
      const held = model.jars.get(jar);
      const answer = await crashing(real, dies, () =>
        (real.processes[at] as TestClient).post(`/login/${user}${remember ? "?remember=1" : ""}`, cookies(held)),
      );
      const cookie = answer.status === 200 ? cookieOf(answer) : null;
      if (cookie === null) {
        notEqual(dies, null);
        if (held !== undefined) age(held, model.now);
        doubtUse(held, model.now);
        return doubt(held);
      }
      kill(held);
      const kind = remember ? "remembered" : "plain";
      const started: Known = {
        cookie,
        user,
        kind,
        issuedAt: model.now,
        seenAt: model.now,
        seenAtMost: model.now,
        state: "live",
      };
      model.known.push(started);
      model.jars.set(jar, started);
    }),
);

const use = tuple(nat(50), nat(1)).map(([index, at]) =>
  command(`use(${index})`, async (model, real) => {
    const session = model.known[index % Math.max(1, model.known.length)];
    if (session === undefined) return;
    const answers = await Promise.all(
      [0, 1].map((other) => (real.processes[(at + other) % 2] as TestClient).get("/me", cookies(session))),
    );
    const statuses = new Set(answers.map(({ status }) => status));
    equal(statuses.size, 1);
    observe(model, session, statuses.has(200));
  }),
);

const logout = tuple(browser, crash).map(([jar, dies]) =>
  command(`logout(${jar}, dies=${dies})`, async (model, real) => {
    const held = model.jars.get(jar);
    const answer = await crashing(real, dies, () => (real.processes[0] as TestClient).post("/logout", cookies(held)));
    if (answer.status !== 200) {
      if (held !== undefined) age(held, model.now);
      doubtUse(held, model.now);
      return doubt(held);
    }
    kill(held);
    model.jars.delete(jar);
  }),
);

const revoke = tuple(browser, nat(50)).map(([jar, index]) =>
  command(`revoke(${jar}, ${index})`, async (model, real) => {
    const held = model.jars.get(jar);
    const target = model.known[index % Math.max(1, model.known.length)];
    if (held === undefined || target === undefined) return;
    const answer = await (real.processes[1] as TestClient).delete(`/sessions/${handleOf(target)}`, cookies(held));
    observe(model, held, answer.status !== 401);
    if (held.state === "dead") return;
    if (target.user !== held.user) return equal(answer.status, 404);
    age(target, model.now);
    if (target.state !== "maybe") equal(answer.status, target.state === "live" ? 204 : 404);
    kill(target);
  }),
);

const revokeMany = tuple(browser, constantFrom("others", "all"), crash).map(([jar, which, dies]) =>
  command(`revoke-${which}(${jar}, dies=${dies})`, async (model, real) => {
    const held = model.jars.get(jar);
    if (held === undefined) return;
    const answer = await crashing(real, dies, () =>
      (real.processes[0] as TestClient).post(`/revoke-${which}`, cookies(held)),
    );
    const isDone = answer.status === 200 && (dies === null || answer.json() !== 0);
    age(held, model.now);
    if (held.state === "dead") return;
    if (held.state === "live" && dies === null) noteUse(held, model.now);
    else doubtUse(held, model.now);
    const aims = model.known.filter((entry) => entry.user === held.user && (which === "all" || entry !== held));
    for (const entry of aims) {
      // Of a session in doubt it is not known whether it could revoke anything.
      if (isDone && held.state === "live" && dies === null) kill(entry);
      else doubt(entry);
    }
  }),
);

const list = browser.map((jar) =>
  command(`list(${jar})`, async (model, real) => {
    const held = model.jars.get(jar);
    if (held === undefined) return;
    const answer = await (real.processes[0] as TestClient).get("/sessions", cookies(held));
    observe(model, held, answer.status === 200);
    if (answer.status !== 200) return;
    const listed = new Set((answer.json() as { id: string }[]).map(({ id }) => id));
    for (const session of model.known) {
      age(session, model.now);
      const isListed = listed.has(handleOf(session));
      if (session.state !== "maybe") equal(isListed, session.state === "live" && session.user === held.user);
    }
  }),
);

const advance = constantFrom(
  1,
  30_000,
  MINUTE,
  60 * MINUTE,
  119 * MINUTE,
  120 * MINUTE,
  1_440 * MINUTE,
  20_160 * MINUTE,
).map((ms) =>
  command(`advance(${ms})`, async (model, real) => {
    model.now += ms;
    real.clock.advance(ms);
  }),
);

/** All that can happen; uses are the most frequent. */
export const happenings: Arbitrary<AsyncCommand<Model, Real>>[] = [
  login,
  use,
  use,
  logout,
  revoke,
  revokeMany,
  list,
  advance,
];
