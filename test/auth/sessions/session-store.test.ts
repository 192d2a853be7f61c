import { setImmediate } from "node:timers/promises";
import { array, assert, asyncProperty, constantFrom, integer, scheduler } from "fast-check";
import { manualClock } from "portico/testing";
import { describe, expect, it } from "vitest";
import { type SessionLimits, SessionStore, type StoredSession } from "../../../src/auth/sessions/session-store.ts";
import { RecordingStore } from "./recording-store.ts";

const HOUR = 3_600_000;
const limits: SessionLimits = {
  plain: { idleMs: 2 * HOUR, absoluteMs: 24 * HOUR },
  remembered: { idleMs: 336 * HOUR, absoluteMs: 720 * HOUR },
  maxPerUser: 50,
};
const draft = (user = "ann") => ({ user, device: "test", address: "::1", isRemembered: false }) as const;

function made(overrides: Partial<SessionLimits> = {}) {
  const clock = manualClock(1_000_000);
  const store = new RecordingStore({ clock });
  return { clock, store, sessions: new SessionStore(store, clock, { ...limits, ...overrides }) };
}

describe("sessions that change at the same time", () => {
  it("[auth:AU-078] are all kept, and a late write of a use does not restore an ended session", async () => {
    const { sessions, store, clock } = made();
    const started = await Promise.all(Array.from({ length: 20 }, () => sessions.start(draft())));
    expect(await sessions.list("ann")).toHaveLength(20);

    const [{ id, handle }] = started as [StoredSession & { id: string }];
    clock.advance(HOUR);
    let release = (): void => {};
    store.before = (operation) =>
      operation !== "get" ? new Promise<void>((resolve) => void (release = resolve)) : undefined;
    const late = sessions.use(id);
    await setImmediate();
    const note = release;
    store.before = () => {};
    await sessions.end("ann", [handle]);
    note();
    await late;

    expect(await sessions.use(id)).toBe(null);
    expect(await sessions.list("ann")).toHaveLength(19);
  });

  it("in any order leave every live session in its user's list, and end only the sessions that were ended", async () => {
    const operation = constantFrom("start", "use", "endAll", "endOthers", "endFirst" as const);
    await assert(
      asyncProperty(scheduler(), array(operation, { minLength: 2, maxLength: 6 }), async (s, operations) => {
        const { sessions, store } = made();
        const before = [await sessions.start(draft()), await sessions.start(draft())] as const;
        const bob = await sessions.start(draft("bob"));
        store.before = () => s.schedule(Promise.resolve());
        const begun: string[] = [];

        const running = operations.map(async (name) => {
          if (name === "start") begun.push((await sessions.start(draft())).id);
          if (name === "use") await sessions.use(before[1].id);
          if (name === "endAll") await sessions.end("ann", await sessions.handles("ann"));
          if (name === "endFirst") await sessions.end("ann", [before[0].handle]);
          if (name === "endOthers") {
            const handles = await sessions.handles("ann");
            await sessions.end(
              "ann",
              handles.filter((handle) => handle !== before[1].handle),
            );
          }
        });
        await s.waitFor(Promise.all(running));
        store.before = () => {};

        const listed = (await sessions.list("ann")).map(({ handle }) => handle);
        const did = (...names: string[]): boolean => operations.some((name) => names.includes(name));
        const found = await Promise.all([...begun, before[1].id].map((id) => sessions.use(id)));
        const live = found.filter((session) => session !== null);
        expect(listed).toEqual(expect.arrayContaining(live.map(({ handle }) => handle)));
        expect(listed.includes(before[0].handle)).toBe(!did("endAll", "endOthers", "endFirst"));
        expect(listed.includes(before[1].handle)).toBe(!did("endAll"));
        expect(live.length === found.length || did("endAll", "endOthers")).toBe(true);
        await sessions.end("ann", await sessions.handles("ann"));
        for (const id of begun) expect(await sessions.use(id)).toBe(null);
        expect(await sessions.use(bob.id)).not.toBe(null);
      }),
      { numRuns: 300 },
    );
  });

  it("beyond the maximum leave the maximum number, in any order", async () => {
    await assert(
      asyncProperty(scheduler(), integer({ min: 2, max: 4 }), integer({ min: 3, max: 6 }), async (s, most, logins) => {
        const { sessions, store } = made({ maxPerUser: most });
        store.before = () => s.schedule(Promise.resolve());
        const outcomes = await s.waitFor(
          Promise.allSettled(Array.from({ length: logins }, () => sessions.start(draft()))),
        );
        store.before = () => {};

        const listed = await sessions.list("ann");
        expect(listed.length).toBeLessThanOrEqual(most);
        expect(listed.length).toBeGreaterThan(0);
        const ids = outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value.id] : []));
        const live = (await Promise.all(ids.map((id) => sessions.use(id)))).filter((session) => session !== null);
        expect(listed.map(({ handle }) => handle)).toEqual(expect.arrayContaining(live.map(({ handle }) => handle)));
      }),
      { numRuns: 100 },
    );
  });
});

describe("a crash between two writes", () => {
  it("leaves every live session in its user's list", async () => {
    for (let crash = 0; crash < 12; crash++) {
      const { sessions, store } = made();
      const old = await sessions.start(draft());
      let calls = 0;
      store.before = () => {
        if (calls++ >= crash) throw new Error("the process died");
      };
      const begun = await sessions.start(draft()).catch(() => null);
      if (begun !== null)
        await sessions
          .handles("ann")
          .then((handles) => sessions.end("ann", handles))
          .catch(() => 0);
      store.before = () => {};

      const isListed = (await sessions.list("ann")).some(({ handle }) => handle === old.handle);
      expect((await sessions.use(old.id)) !== null).toBe(isListed);
      await sessions.end("ann", await sessions.handles("ann"));
      expect(await sessions.use(old.id)).toBe(null);
      const records = [...store.entries].filter(([key]) => key.startsWith("session:"));
      // A record that a crash leaves behind is not valid, and is gone within a minute.
      expect(records.every(([, text]) => (JSON.parse(text) as { isPending: boolean }).isPending)).toBe(true);
    }
  });
});

it("records a use after it has returned the session, once for concurrent uses", async () => {
  const { sessions, store, clock } = made();
  const { id } = await sessions.start(draft());
  clock.advance(HOUR);
  store.take();
  const writing: PromiseWithResolvers<void> = Promise.withResolvers();
  store.before = (operation) => (operation === "compareAndSet" ? writing.promise : undefined);

  const [first, second] = await Promise.all([sessions.use(id), sessions.use(id)]);
  await setImmediate();
  const calls = store.take();
  writing.resolve();
  await setImmediate();

  expect([first?.record.seenAt, second?.record.seenAt]).toEqual([1_000_000, 1_000_000]);
  expect(calls).toEqual(["get session", "get session", "compareAndSet session"]);
  expect((await sessions.use(id))?.record.seenAt).toBe(1_000_000 + HOUR);
});

it("records a use again after the store has failed", async () => {
  const { sessions, store, clock } = made();
  const { id } = await sessions.start(draft());
  clock.advance(HOUR);
  store.before = (operation) => {
    if (operation === "compareAndSet") throw new Error("the store is read-only");
  };

  expect(await sessions.use(id)).not.toBe(null);
  await setImmediate();
  store.before = () => {};
  await sessions.use(id);
  await setImmediate();

  expect((await sessions.use(id))?.record.seenAt).toBe(1_000_000 + HOUR);
});

it("records a use more often if the idle time is short", async () => {
  const { sessions, clock } = made({ plain: { idleMs: 20_000, absoluteMs: HOUR } });
  const { id } = await sessions.start(draft());

  for (let step = 0; step < 20; step++) {
    clock.advance(10_000);
    expect(await sessions.use(id)).not.toBe(null);
    await setImmediate();
  }
  clock.advance(20_000);
  expect(await sessions.use(id)).toBe(null);
});

it("applies a shortened lifetime to running sessions, but not an extended one", async () => {
  const { store, clock, sessions } = made();
  const { id } = await sessions.start(draft());
  const other = (hours: number): SessionStore =>
    new SessionStore(store, clock, { ...limits, plain: { idleMs: 100 * HOUR, absoluteMs: hours * HOUR } });

  clock.advance(HOUR);
  expect((await other(48).use(id))?.expiresAt).toBe(1_000_000 + 24 * HOUR);
  expect((await other(3).use(id))?.expiresAt).toBe(1_000_000 + 3 * HOUR);
});

it("distinguishes users whose ids differ only in lone surrogates", async () => {
  const { sessions } = made();
  const users = ["\ud800", "\ud801", "\ufffd", "a\u0000", "a"];
  for (const user of users) await sessions.start(draft(user));

  for (const user of users) expect(await sessions.list(user)).toHaveLength(1);
});
