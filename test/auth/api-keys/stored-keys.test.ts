import { APIKeys, SimpleUser } from "portico/auth";
import { manualClock } from "portico/testing";
import { describe, expect, it } from "vitest";
import { parseKeyRecord } from "../../../src/auth/api-keys/api-key-record.ts";
import { RecordingStore } from "../sessions/recording-store.ts";

const START = 1_800_000_000_000;
const MINUTE = 60_000;
const ann = new SimpleUser("ann");

function made(maxPerUser = 2) {
  const clock = manualClock(START);
  const store = new RecordingStore({ clock });
  return { clock, store, keys: new APIKeys({ store, clock, maxPerUser }) };
}

const listKeyIn = ({ entries }: RecordingStore): string =>
  [...entries.keys()].find((key) => key.startsWith("apikeys-of:")) as string;

describe("stored API keys", () => {
  it("are shown with the beginning and the end of the key, newest first", async () => {
    const { keys, clock } = made();
    const first = await keys.create(ann, {
      name: "CI",
      permissions: ["read:books"],
      perMinute: 5,
      expiresInSeconds: 60,
    });
    clock.advance(1);
    const second = await keys.create(ann, { expiresInSeconds: "never" });

    expect(await keys.list(ann)).toEqual([
      {
        id: second.id,
        user: "ann",
        name: "",
        prefix: `pk_${second.id}`,
        lastFour: second.key.slice(-4),
        permissions: null,
        perMinute: null,
        createdAt: new Date(START + 1),
        expiresAt: null,
        lastUsedAt: null,
      },
      {
        id: first.id,
        user: "ann",
        name: "CI",
        prefix: `pk_${first.id}`,
        lastFour: first.key.slice(-4),
        permissions: ["read:books"],
        perMinute: 5,
        createdAt: new Date(START),
        expiresAt: new Date(START + MINUTE),
        lastUsedAt: null,
      },
    ]);
  });

  it("that have expired make room for others, and the maximum is named", async () => {
    const { keys, clock } = made();
    await keys.create(ann, { expiresInSeconds: 60 });
    const lasting = await keys.create(ann);
    await expect(keys.create(ann)).rejects.toMatchObject({
      status: 409,
      message: "The limit of 2 API keys is reached. Revoke one first.",
    });

    clock.advance(MINUTE);
    const next = await keys.create(ann);
    expect((await keys.list(ann)).map(({ id }) => id)).toEqual([next.id, lasting.id]);
    expect(await keys.revokeAll(ann)).toBe(2);
    expect(await keys.revokeAll(ann)).toBe(0);
    expect(await keys.list(ann)).toEqual([]);
  });

  it("are valid until the millisecond in which they expire", async () => {
    const { keys, clock } = made();
    const { key } = await keys.create(ann, { expiresInSeconds: 60 });

    clock.advance(MINUTE - 1);
    expect((await keys.verify(key))?.lastUsedAt).toEqual(new Date(START + MINUTE - 1));
    clock.advance(1);
    expect(await keys.verify(key)).toBe(null);
  });

  it("record a use at most once a minute, and at once if the clock was set back", async () => {
    let now = START;
    const clock = { now: () => now, monotonic: () => now };
    const keys = new APIKeys({ store: new RecordingStore(), clock });
    const { key } = await keys.create(ann);
    const usedAt = async (ms: number): Promise<number> => {
      now = START + ms;
      return ((await keys.verify(key))?.lastUsedAt?.getTime() ?? 0) - START;
    };

    expect([await usedAt(0), await usedAt(MINUTE - 1), await usedAt(MINUTE)]).toEqual([0, 0, MINUTE]);
    expect([await usedAt(MINUTE - 1), await usedAt(MINUTE)]).toEqual([MINUTE - 1, MINUTE - 1]);
  });

  it("accept the old secret until the overlap has ended, and keep the lifetime", async () => {
    const { keys, clock } = made();
    const { key, id } = await keys.create(ann, { expiresInSeconds: 600 });
    clock.advance(MINUTE);
    const renewed = await keys.renew(ann, id, { overlapSeconds: 60 });

    expect(renewed?.expiresAt).toEqual(new Date(START + MINUTE + 600_000));
    expect(renewed?.lastFour).toBe(renewed?.key.slice(-4));
    clock.advance(MINUTE - 1);
    expect([(await keys.verify(key))?.id, (await keys.verify(renewed?.key ?? ""))?.id]).toEqual([id, id]);
    clock.advance(1);
    expect([await keys.verify(key), (await keys.verify(renewed?.key ?? ""))?.id]).toEqual([null, id]);
    const forever = await keys.renew(ann, id, { expiresInSeconds: "never" });
    expect((await keys.renew(ann, forever?.id ?? ""))?.expiresAt).toBe(null);
    expect(await keys.renew(ann, "unknown")).toBe(null);
    expect(await keys.renew(new SimpleUser("eve"), id)).toBe(null);
  });

  it("are renewed by one of two requests, and after a use that was recorded meanwhile", async () => {
    const { keys, store } = made();
    const { id, key } = await keys.create(ann);
    const both = await Promise.all([keys.renew(ann, id), keys.renew(ann, id)]);
    expect(both.filter((entry) => entry !== null)).toHaveLength(1);

    let isFirst = true;
    const newest = both.find((entry) => entry !== null)?.key ?? key;
    store.before = async (operation) => {
      if (operation !== "compareAndSet" || !isFirst) return;
      isFirst = false;
      await keys.verify(newest);
    };
    const again = await keys.renew(ann, id);
    expect((await keys.verify(again?.key ?? ""))?.id).toBe(id);
  });

  it.each(["{", "{}", "null", '["short", 1]'])("are not listed if the list is %s", async (text) => {
    const { keys, store } = made();
    const { key, id } = await keys.create(ann);
    await store.set(listKeyIn(store), text);

    expect(await keys.list(ann)).toEqual([]);
    expect((await keys.verify(key))?.id).toBe(id);
  });

  it("of another user are not listed, even if their id is", async () => {
    const { keys, store } = made();
    const [own, other] = [await keys.create(ann), await keys.create(new SimpleUser("eve"))];
    await store.set(listKeyIn(store), JSON.stringify([own.id, other.id]));

    expect((await keys.list(ann)).map(({ id }) => id)).toEqual([own.id]);
    expect(await keys.revoke(ann, other.id)).toBe(false);
    expect(await keys.revoke(ann, own.id)).toBe(true);
  });

  it("are not valid before they are listed", async () => {
    const { keys, store } = made();
    let pending = "";
    store.before = (operation, key) => {
      if (operation === "get" && key.startsWith("apikeys-of:")) pending = store.text;
    };
    await keys.create(ann);

    expect(pending).toContain('\\"isPending\\":true');
    expect(store.text).not.toContain('\\"isPending\\":true');
  });

  it.each<[string, unknown]>([
    ["user", 1],
    ["hash", null],
    ["lastFour", 1],
    ["name", null],
    ["permissions", ["a", 1]],
    ["permissions", "a"],
    ["perMinute", "5"],
    ["createdAt", null],
    ["expiresAt", "never"],
    ["lastUsedAt", "now"],
    ["previous", {}],
    ["previous", { hash: "x" }],
    ["previous", { until: 1 }],
    ["isPending", 0],
  ])("are invalid with another %s: %j", (name, value) => {
    const record = { user: "ann", hash: "x", lastFour: "abcd", name: "", permissions: ["a"], perMinute: 5 };
    const times = { createdAt: 1, expiresAt: 2, lastUsedAt: 3, previous: { hash: "y", until: 4 }, isPending: false };
    const right = { ...record, ...times };

    expect(parseKeyRecord(JSON.stringify(right))).toEqual(right);
    expect([parseKeyRecord("null"), parseKeyRecord("{"), parseKeyRecord(null)]).toEqual([null, null, null]);
    expect(parseKeyRecord(JSON.stringify({ ...right, [name]: value }))).toBe(null);
  });
});
