import { describe, expect, it } from "vitest";
import { DAY, draft, HOUR, recordedSessions, START } from "./recorded-sessions.ts";
import type { RecordingStore } from "./recording-store.ts";

const keyIn = ({ entries }: RecordingStore, prefix: string): string =>
  [...entries.keys()].find((key) => key.startsWith(prefix)) as string;

describe("a session that starts", () => {
  it("starts again if all sessions are ended meanwhile, three times at most", async () => {
    const { sessions, store } = recordedSessions();
    let starts = 0;
    store.before = async (operation, key) => {
      if (operation !== "compareAndSet" || !key.startsWith("session:")) return;
      starts++;
      await store.delete(key);
    };

    await expect(sessions.start(draft)).rejects.toMatchObject({
      status: 503,
      message: "The session could not be started. Try again.",
    });
    expect(starts).toBe(3);
    store.before = () => {};
    expect(await sessions.list("ann")).toEqual([]);
  });

  it("is kept for a minute, and not valid, if it is not completed", async () => {
    const { sessions, store, clock } = recordedSessions();
    store.before = (operation, key) => {
      if (operation === "compareAndSet" && key.startsWith("session:")) throw new Error("the process died");
    };
    await expect(sessions.start(draft)).rejects.toThrow("the process died");
    store.before = () => {};
    const key = keyIn(store, "session:");
    const handle = key.slice("session:".length);

    expect([await sessions.find(handle), await sessions.touch(handle)]).toEqual([null, null]);
    clock.advance(59_999);
    expect(await store.get(key)).not.toBe(null);
    clock.advance(1);
    expect(await store.get(key)).toBe(null);
  });

  it("ends with the session that it continues, if that is earlier", async () => {
    const { sessions } = recordedSessions();
    const lasts = async (endsAt?: number): Promise<number> =>
      sessions.lastsUntil(await sessions.start(draft, endsAt)) - START;

    expect([await lasts(), await lasts(START + HOUR), await lasts(START + 2 * DAY)]).toEqual([DAY, HOUR, DAY]);
    expect(await lasts(START - 1)).toBe(1);
  });

  it("is kept for its idle time, and no longer than it lasts", async () => {
    const { sessions, store, clock } = recordedSessions();
    const { handle } = await sessions.start(draft);
    const brief = await sessions.start(draft, START + HOUR);
    const isKept = async (name: string): Promise<boolean> => (await store.get(`session:${name}`)) !== null;

    clock.advance(HOUR - 1);
    expect([await isKept(handle), await isKept(brief.handle)]).toEqual([true, true]);
    clock.advance(1);
    expect([await isKept(handle), await isKept(brief.handle)]).toEqual([true, false]);
    clock.advance(HOUR);
    expect(await isKept(handle)).toBe(false);
  });
});

describe("the list of a user's sessions", () => {
  it("is kept for a day longer than the longest session", async () => {
    const { sessions, store, clock } = recordedSessions();
    await sessions.start(draft);
    const key = keyIn(store, "sessions-of:");

    clock.advance(31 * DAY - 1);
    expect(await store.get(key)).not.toBe(null);
    clock.advance(1);
    expect(await store.get(key)).toBe(null);
  });

  it("is removed with the last session, and is not written if nothing changes", async () => {
    const { sessions, store, clock } = recordedSessions();
    const { handle } = await sessions.start(draft);
    const key = keyIn(store, "sessions-of:");
    store.take();
    await sessions.end("ann", ["unknown"]);
    expect(store.take().filter((call) => call.startsWith("compareAndSet"))).toEqual([]);

    await sessions.end("ann", [handle]);
    clock.advance(1);
    expect(await store.get(key)).toBe(null);
  });
});

describe("a session that is changed", () => {
  it("acts as another user after a concurrent change, or is refused with 503", async () => {
    const { sessions, store, clock } = recordedSessions();
    const { handle } = await sessions.start(draft);
    const acting = { user: "bob", until: START + HOUR };
    clock.advance(HOUR / 2);
    let isFirst = true;
    store.before = async (operation) => {
      if (operation !== "compareAndSet" || !isFirst) return;
      isFirst = false;
      await sessions.touch(handle);
    };

    expect((await sessions.act(handle, acting))?.seenAt).toBe(START + HOUR / 2);
    expect((await sessions.find(handle))?.record.acting).toEqual(acting);
    let changes = 0;
    store.before = async (operation, key) => {
      if (operation !== "compareAndSet") return;
      changes++;
      await store.set(key, `${await store.get(key)} `);
    };
    await expect(sessions.act(handle, null)).rejects.toMatchObject({
      status: 503,
      message: "Too many concurrent changes to this session. Try again.",
    });
    expect(changes).toBe(200);
  });

  it("is deleted when it is used after its end, but not while it starts", async () => {
    const { sessions, store, clock } = recordedSessions();
    const { id, handle } = await sessions.start({ ...draft, isRemembered: true });
    const text = store.entries.get(`session:${handle}`) as string;
    clock.advance(31 * DAY);
    await store.set(`session:${handle}`, text);
    expect(await sessions.find(handle)).toBe(null);
    expect(store.entries.has(`session:${handle}`)).toBe(true);

    expect(await sessions.use(id)).toBe(null);
    expect(store.entries.has(`session:${handle}`)).toBe(false);
    const pending = JSON.stringify({ ...(JSON.parse(text) as object), isPending: true });
    await store.set(`session:${handle}`, pending);
    expect([await sessions.use(id), store.entries.get(`session:${handle}`)]).toEqual([null, pending]);
  });

  it("ends in the millisecond in which it expires, even if the store keeps it", async () => {
    const { sessions, store, clock } = recordedSessions();
    const { handle } = await sessions.start(draft);
    await store.set(`session:${handle}`, store.entries.get(`session:${handle}`) as string);

    clock.advance(2 * HOUR - 1);
    expect((await sessions.find(handle))?.handle).toBe(handle);
    clock.advance(1);
    expect(await sessions.find(handle)).toBe(null);
  });

  it("is expired for tools as a whole, and its record is kept for a day", async () => {
    const { sessions, store, clock } = recordedSessions();
    const { handle } = await sessions.start(draft);
    clock.advance(HOUR);
    await sessions.touch(handle);
    const recordOf = (): { issuedAt: number; seenAt: number } =>
      JSON.parse(store.entries.get(`session:${handle}`) as string) as never;
    await sessions.expire(handle);

    expect(recordOf().seenAt - recordOf().issuedAt).toBe(HOUR);
    expect(recordOf().seenAt).toBeLessThan(START - DAY);
    clock.advance(DAY - 1);
    expect(await store.get(`session:${handle}`)).not.toBe(null);
    clock.advance(1);
    expect(await store.get(`session:${handle}`)).toBe(null);
  });
});
