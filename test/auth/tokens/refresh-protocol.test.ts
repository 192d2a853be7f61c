import assert from "node:assert/strict";
import * as fc from "fast-check";
import type { KeyValueStore } from "portico";
import { AuthenticationFailed, rotateRefreshToken, SimpleUser, TokenForUser } from "portico/auth";
import { manualClock } from "portico/testing";
import { describe, expect, it } from "vitest";
import { SECRET } from "./token-app.ts";

/** The client, its other tab that is late, and a thief with a copy of its token. */
type Who = "client" | "tab" | "thief";

/** The process dies at this step of the store, before or after it took effect. */
interface Crash {
  readonly step: number;
  readonly phase: "before" | "after";
}
interface Call {
  readonly who: Who;
  readonly crash: Crash | null;
  /** The response never arrives. */
  readonly isLost: boolean;
}
type Act =
  | { readonly kind: "calls"; readonly calls: readonly Call[] }
  | { readonly kind: "advance"; readonly ms: number }
  | { readonly kind: "steal" };

class Crashed extends Error {}

/** The expected state of the family. Tokens are numbers: 0 is the first, and the successor of n is n + 1. */
interface Model {
  /** When each spent token was first used, or was answered late; its length is the number of the newest. */
  readonly spentAt: readonly number[];
  /** The last token that was answered after the ten seconds. */
  readonly late: number | null;
  readonly isDead: boolean;
}
type Outcome = number | "refused" | "crashed";

/** The protocol, in one place and without a store. */
function present(model: Model, token: number, now: number): readonly [Model, Outcome] {
  const newest = model.spentAt.length;
  if (model.isDead) return [model, "refused"];
  if (token === newest) return [{ ...model, spentAt: [...model.spentAt, now] }, token + 1];
  if (now - (model.spentAt[token] as number) < 10_000) return [model, token + 1];
  const isFirst = model.late === null || model.late < token - 1;
  if (token !== newest - 1 || !isFirst) return [{ ...model, isDead: true }, "refused"];
  return [{ ...model, spentAt: [...model.spentAt.slice(0, -1), now], late: token }, token + 1];
}

interface Presented {
  readonly token: number;
  readonly outcome: Outcome;
}

/** Every state that some order of the calls leads to with these outcomes; a call that crashed took effect, or did not. */
function explanations(model: Model, calls: readonly Presented[], now: number): readonly Model[] {
  if (calls.length === 0) return [model];
  return calls.flatMap((call, index) => {
    const rest = calls.filter((_, other) => other !== index);
    const [next, outcome] = present(model, call.token, now);
    if (call.outcome !== "crashed") return call.outcome === outcome ? explanations(next, rest, now) : [];
    return [...explanations(next, rest, now), ...explanations(model, rest, now)];
  });
}

/** The real system: one family in a store, and the holders of its tokens. */
class World {
  readonly #clock = manualClock(1_800_000_000_000);
  readonly #contents = new Map<string, string>();
  readonly #scheduler: fc.Scheduler;
  readonly #texts: string[] = [];
  #model: Model = { spentAt: [], late: null, isDead: false };
  #client = 0;
  #thief: number | null = null;
  #hasThiefActed = false;
  /** The tokens whose response the client has missed, since one that it did not miss at first. */
  #missed: readonly number[] = [];

  constructor(scheduler: fc.Scheduler) {
    this.#scheduler = scheduler;
  }

  get isOver(): boolean {
    return this.#model.isDead;
  }

  async begin(): Promise<void> {
    const options = { secret: SECRET, clock: this.#clock, refreshStore: this.#store(null, false) };
    const { refresh_token } = await new TokenForUser(new SimpleUser("ann"), options).tokenPair();
    this.#texts.push(refresh_token as string);
  }

  async act(act: Act): Promise<void> {
    if (act.kind === "advance") this.#clock.advance(act.ms);
    else if (act.kind === "steal") this.#thief = this.#client;
    else await this.#call(act.calls);
  }

  async #call(calls: readonly Call[]): Promise<void> {
    const made = calls.map((call) => ({ ...call, token: this.#tokenOf(call.who) }));
    this.#hasThiefActed ||= this.#thief !== null && made.some(({ who }) => who === "thief");

    const outcomes = await this.#scheduler.waitFor(Promise.all(made.map((call) => this.#refresh(call))));

    const presented = made.map(({ token }, index) => ({ token, outcome: outcomes[index] as Outcome }));
    const fitting = explanations(this.#model, presented, this.#clock.now()).find((model) => this.#isStored(model));
    assert.ok(fitting, `no order explains ${JSON.stringify([this.#model, presented])}`);
    this.#model = fitting;
    const isForgivable = this.#hasThiefActed || this.#missed.length >= 2;
    assert.ok(isForgivable || !outcomes.includes("refused"), "an honest client was logged out");
    const before = this.#client;
    for (const [index, { who, isLost }] of made.entries()) this.#receive(who, outcomes[index] as Outcome, isLost);
    if (this.#client === before) this.#missed = [...this.#missed, before];
    else if (!this.#missed.includes(before)) this.#missed = [];
  }

  /** A late tab is honest: it holds a token that was spent a moment ago. One that keeps its own for longer is a copy. */
  #tokenOf(who: Who): number {
    if (who === "thief") return this.#thief ?? this.#client;
    if (who === "client") return this.#client;
    const late = this.#model.spentAt.findIndex((at) => this.#clock.now() - at < 10_000);
    return late === -1 ? this.#client : Math.min(late, this.#client);
  }

  async #refresh({ token, crash }: Call & { readonly token: number }): Promise<Outcome> {
    const options = { secret: SECRET, clock: this.#clock, refreshStore: this.#store(crash, true) };
    try {
      const { refresh_token } = await rotateRefreshToken(this.#texts[token], SimpleUser, options);
      this.#texts[token + 1] ??= refresh_token as string;
      return this.#texts.indexOf(refresh_token as string);
    } catch (error) {
      if (error instanceof Crashed) return "crashed";
      if (error instanceof AuthenticationFailed) return "refused";
      throw error;
    }
  }

  #receive(who: Who, outcome: Outcome, isLost: boolean): void {
    if (typeof outcome !== "number" || isLost) return;
    if (who !== "thief" || this.#thief === null) this.#client = Math.max(this.#client, outcome);
    else this.#thief = Math.max(this.#thief, outcome);
  }

  #isStored({ spentAt, late, isDead }: Model): boolean {
    const [entry] = [...this.#contents].filter(([key]) => key.startsWith("refresh:")).map(([, value]) => value);
    if (entry === undefined) return isDead;
    const stored = JSON.parse(entry) as { readonly generation: number; readonly late?: number };
    return !isDead && stored.generation === spentAt.length && (stored.late ?? null) === late;
  }

  /** The store as one call sees it: each step is at the scheduler's mercy. */
  #store(crash: Crash | null, isScheduled: boolean): KeyValueStore {
    let step = 0;
    const perform = async <T>(name: string, effect: () => T): Promise<T> => {
      if (isScheduled) await this.#scheduler.schedule(Promise.resolve(), name);
      const isLast = step++ === crash?.step;
      if (isLast && crash?.phase === "before") throw new Crashed();
      const result = effect();
      if (isLast) throw new Crashed();
      return result;
    };
    const contents = this.#contents;
    const swap = (key: string, expected: string | null, value: string): Promise<boolean> =>
      perform("compareAndSet", () => {
        if ((contents.get(key) ?? null) !== expected) return false;
        contents.set(key, value);
        return true;
      });
    return {
      get: (key) => perform("get", () => contents.get(key) ?? null),
      set: (key, value) => perform("set", () => void contents.set(key, value)),
      setIfAbsent: (key, value) => swap(key, null, value),
      compareAndSet: swap,
      delete: (key) => perform("delete", () => contents.delete(key)),
    };
  }
}

class ActCommand implements fc.AsyncCommand<object, World> {
  readonly #act: Act;
  constructor(act: Act) {
    this.#act = act;
  }
  check(): boolean {
    return true;
  }
  async run(_model: object, world: World): Promise<void> {
    await world.act(this.#act);
  }
  toString(): string {
    return JSON.stringify(this.#act);
  }
}

const crash = fc.oneof(
  { weight: 4, arbitrary: fc.constant(null) },
  { weight: 1, arbitrary: fc.record({ step: fc.nat(4), phase: fc.constantFrom("before" as const, "after" as const) }) },
);
const isLost = fc.oneof({ weight: 3, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) });
const advance = fc
  .constantFrom(1, 1000, 5000, 9999, 10_000, 11_000, 3_600_000, 86_400_000)
  .map((ms): Act => ({ kind: "advance", ms }));
const calls = (...who: readonly Who[]): fc.Arbitrary<Act> =>
  fc
    .array(fc.record({ who: fc.constantFrom(...who), crash, isLost }), { minLength: 1, maxLength: 3 })
    .map((calls): Act => ({ kind: "calls", calls }));

/** The conflict itself, in the middle of a rotation. */
const race: fc.Arbitrary<Act> = fc.constant({
  kind: "calls",
  calls: (["client", "thief"] as const).map((who) => ({ who, crash: null, isLost: false })),
});

const commands = (...acts: readonly fc.Arbitrary<Act>[]): fc.Arbitrary<Iterable<ActCommand>> =>
  fc.commands(
    acts.map((act) => act.map((made) => new ActCommand(made))),
    { maxCommands: 14, size: "max" },
  ) as fc.Arbitrary<Iterable<ActCommand>>;

async function holds(acts: fc.Arbitrary<Iterable<ActCommand>>): Promise<void> {
  await fc.assert(
    fc.asyncProperty(acts, fc.scheduler(), async (commands, scheduler) => {
      const world = new World(scheduler);
      await world.begin();
      await fc.asyncModelRun(() => ({ model: {}, real: world }), commands as Iterable<fc.AsyncCommand<object, World>>);
    }),
    { numRuns: 400 },
  );
}

describe("the refresh protocol", () => {
  it("[BCK-29] logs out no honest client that did not lose two responses in a row, in any order of calls, late tabs, clock moves and crashes", async () => {
    await expect(holds(commands(calls("client", "tab"), advance))).resolves.toBeUndefined();
  });

  it("[BCK-28] keeps no copy alive past its first conflict, in any order of calls, clock moves and crashes", async () => {
    const steal = fc.constant<Act>({ kind: "steal" });
    const acts = commands(calls("client", "tab", "thief"), calls("client"), race, race, advance, advance, steal);
    await expect(holds(acts)).resolves.toBeUndefined();
  });

  it("[BCK-28] revokes a family at the second token that two holders take turns with, in any order and after any delay", async () => {
    const turn = fc.record({ isThiefFirst: fc.boolean(), gaps: fc.tuple(...[0, 1].map(() => fc.nat(86_400_000))) });
    const lockstep = fc.asyncProperty(fc.tuple(turn, turn), fc.scheduler(), async (turns, scheduler) => {
      const world = new World(scheduler);
      await world.begin();
      await world.act({ kind: "steal" });
      for (const { isThiefFirst, gaps } of turns)
        for (const [index, who] of (isThiefFirst ? ["thief", "client"] : ["client", "thief"]).entries()) {
          await world.act({ kind: "advance", ms: 10_000 + (gaps[index] as number) });
          await world.act({ kind: "calls", calls: [{ who: who as Who, crash: null, isLost: false }] });
        }

      assert.ok(world.isOver, "both copies live on");
    });
    await expect(fc.assert(lockstep, { numRuns: 200 })).resolves.toBeUndefined();
  });
});
