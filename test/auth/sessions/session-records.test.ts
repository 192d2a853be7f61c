import { describe, expect, it } from "vitest";
import { afterUse, parseSessionRecord, type SessionRecord } from "../../../src/auth/sessions/session-record.ts";
import { draft, HOUR, limits, recordedSessions, START } from "./recorded-sessions.ts";

const record: SessionRecord = {
  ...draft,
  issuedAt: START,
  seenAt: START,
  lifetimeMs: 24 * HOUR,
  isPending: false,
};

describe("a stored session", () => {
  it.each<[string, object]>([
    ["nothing else", {}],
    ["a version", { version: 1 }],
    ["a level", { level: "mfa" }],
    ["its first session", { origin: "handle" }],
    ["a user that it acts as", { acting: { user: "bob", until: 1 } }],
    ["a user that it acts as, with a version", { acting: { user: "bob", until: 1, version: 2 } }],
  ])("is read with %s", (_, members) => {
    const given = { ...record, ...members };

    expect(parseSessionRecord(JSON.stringify(given))).toEqual(given);
  });

  it.each<[string, unknown]>([
    ...Object.keys(record).map((name) => [`without ${name}`, { ...record, [name]: undefined }] as [string, unknown]),
    ["with another version", { ...record, version: "1" }],
    ["with another level", { ...record, level: "sms" }],
    ["with another origin", { ...record, origin: 1 }],
    ["without a user to act as", { ...record, acting: null }],
    ["that acts without a user", { ...record, acting: { until: 1 } }],
    ["that acts without an end", { ...record, acting: { user: "bob" } }],
    ["that acts with another version", { ...record, acting: { user: "bob", until: 1, version: "2" } }],
    ["that is null", null],
    ["that is a list", []],
  ])("%s is invalid", (_, value) => {
    expect(parseSessionRecord(JSON.stringify(value))).toBe(null);
  });

  it("is invalid if it is not JSON, or missing", () => {
    expect([parseSessionRecord("{"), parseSessionRecord(""), parseSessionRecord(null)]).toEqual([null, null, null]);
  });

  it("is written again after a minute, or after a quarter of a short idle time", () => {
    const writtenAt = (now: number, idleMs: number): number =>
      afterUse(record, now, { idleMs, absoluteMs: HOUR }).seenAt;

    expect(writtenAt(START + 59_999, 2 * HOUR)).toBe(START);
    expect(writtenAt(START + 60_000, 2 * HOUR)).toBe(START + 60_000);
    expect(writtenAt(START + 4_999, 20_000)).toBe(START);
    expect(writtenAt(START + 5_000, 20_000)).toBe(START + 5_000);
    expect(afterUse(record, START + 1, limits.plain)).toBe(record);
  });

  it("keeps its age if the clock is set back by more than a minute", () => {
    const used = { ...record, seenAt: START + HOUR };

    expect(afterUse(used, START + HOUR - 60_000, limits.plain)).toBe(used);
    expect(afterUse(used, START + HOUR - 60_001, limits.plain)).toEqual({
      ...used,
      issuedAt: START - 60_001,
      seenAt: START + HOUR - 60_001,
    });
  });
});

describe("the sessions of a user", () => {
  it("leave out those that have ended before they displace the oldest", async () => {
    const { sessions, store } = recordedSessions();
    const [a, b, c] = [await sessions.start(draft), await sessions.start(draft), await sessions.start(draft)];
    await store.delete(`session:${b.handle}`);
    const d = await sessions.start(draft);
    expect(await sessions.handles("ann")).toEqual([a.handle, c.handle, d.handle]);

    const e = await sessions.start(draft);
    expect(await sessions.handles("ann")).toEqual([c.handle, d.handle, e.handle]);
    expect(await sessions.use(a.id)).toBe(null);
    expect((await sessions.list("ann")).map(({ handle }) => handle)).toEqual([e.handle, d.handle, c.handle]);
  });

  it("are ended by handle, and counted if they existed", async () => {
    const { sessions, store } = recordedSessions();
    const [a, b] = [await sessions.start(draft), await sessions.start(draft)];
    store.take();

    expect(await sessions.end("ann", [])).toBe(0);
    expect(store.take()).toEqual([]);
    expect(await sessions.end("ann", [a.handle, "unknown"])).toBe(1);
    expect(await sessions.handles("ann")).toEqual([b.handle]);
    expect(await sessions.end("ann", [a.handle])).toBe(0);
  });

  it.each(["{", "{}", "null", '["short", 1, null]'])("are none if the stored list is %s", async (text) => {
    const { sessions, store } = recordedSessions();
    const { handle } = await sessions.start(draft);
    const key = [...store.entries.keys()].find((name) => name.startsWith("sessions-of:")) as string;
    await store.set(key, text);

    expect(await sessions.handles("ann")).toEqual([]);
    expect((await sessions.find(handle))?.record.user).toBe("ann");
    expect(await sessions.find("not a handle")).toBe(null);
  });

  it("have a use recorded by their handle, which returns the session with it", async () => {
    const { sessions, clock } = recordedSessions();
    const { handle, id } = await sessions.start(draft);
    clock.advance(HOUR);

    expect((await sessions.touch(handle))?.record.seenAt).toBe(START + HOUR);
    expect((await sessions.touch(handle))?.expiresAt).toBe(START + 3 * HOUR);
    clock.advance(2 * HOUR);
    expect(await sessions.touch(handle)).toBe(null);
    expect(await sessions.ownerOf(id)).toBe(null);
  });

  it("expire at once for a tool that needs an expired one, and keep their owner", async () => {
    const { sessions } = recordedSessions();
    const { handle, id } = await sessions.start({ ...draft, isRemembered: true });
    await sessions.expire("unknown");
    await sessions.expire(handle);

    expect(await sessions.ownerOf(id)).toEqual({ user: "ann", handle });
    expect(await sessions.find(handle)).toBe(null);
  });

  it("act as a user once, and as their own user again", async () => {
    const { sessions } = recordedSessions();
    const { handle } = await sessions.start(draft);
    const acting = { user: "bob", until: START + HOUR };

    expect(await sessions.act(handle, null)).toBe(null);
    expect((await sessions.act(handle, acting))?.acting).toBe(undefined);
    expect((await sessions.find(handle))?.record.acting).toEqual(acting);
    expect(await sessions.act(handle, acting)).toBe(null);
    expect((await sessions.act(handle, null))?.acting).toEqual(acting);
    expect((await sessions.find(handle))?.record).not.toHaveProperty("acting");
    await sessions.end("ann", [handle]);
    expect(await sessions.act(handle, acting)).toBe(null);
  });
});
