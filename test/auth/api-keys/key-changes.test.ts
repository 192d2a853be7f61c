import { APIKeys, SimpleUser } from "portico/auth";
import { manualClock, testClient } from "portico/testing";
import { describe, expect, it } from "vitest";
import { RecordingStore } from "../sessions/recording-store.ts";
import { ANN, by, keyApp, make } from "./key-app.ts";

const START = 1_800_000_000_000;
const YEAR = 31_536_000_000;
const ann = new SimpleUser("ann");

function made() {
  const clock = manualClock(START);
  const store = new RecordingStore({ clock });
  return { clock, store, keys: new APIKeys({ store, clock }) };
}

const keyIn = ({ entries }: RecordingStore, prefix: string): string =>
  [...entries.keys()].find((key) => key.startsWith(prefix)) as string;

describe("a new API key", () => {
  it("is refused with 503 if its id is taken, or if all keys are revoked meanwhile", async () => {
    const { keys, store } = made();
    const refusal = { status: 503, message: "The API key could not be created. Try again." };
    store.before = async (operation, key) => {
      if (operation === "compareAndSet" && key.startsWith("apikey:") && !store.entries.has(key))
        await store.set(key, "taken");
    };
    await expect(keys.create(ann)).rejects.toMatchObject(refusal);

    const other = made();
    other.store.before = async (operation, key) => {
      if (operation === "compareAndSet" && other.store.entries.has(key) && key.startsWith("apikey:"))
        await other.store.delete(key);
    };
    await expect(other.keys.create(ann)).rejects.toMatchObject(refusal);
  });

  it("is kept for a minute, and not valid, if it is not completed", async () => {
    const { keys, store, clock } = made();
    store.before = (_, key) => {
      if (key.startsWith("apikeys-of:")) throw new Error("the process died");
    };
    await expect(keys.create(ann)).rejects.toMatchObject({ status: 503 });
    store.before = () => {};
    const key = keyIn(store, "apikey:");

    clock.advance(59_999);
    expect(await store.get(key)).not.toBe(null);
    clock.advance(1);
    expect(await store.get(key)).toBe(null);
  });

  it("is kept as long as it is valid: a year, its own lifetime, or for ever", async () => {
    const { keys, store, clock } = made();
    const lives = [await keys.create(ann), await keys.create(ann, { expiresInSeconds: 60 })];
    const forever = await keys.create(ann, { expiresInSeconds: "never" });
    const kept = async (): Promise<readonly boolean[]> =>
      Promise.all([...lives, forever].map(async ({ id }) => (await store.get(`apikey:${id}`)) !== null));

    clock.advance(59_999);
    expect(await kept()).toEqual([true, true, true]);
    clock.advance(1);
    expect(await kept()).toEqual([true, false, true]);
    clock.advance(YEAR - 60_001);
    expect(await kept()).toEqual([true, false, true]);
    clock.advance(1);
    expect(await kept()).toEqual([false, false, true]);
    clock.advance(100 * YEAR);
    expect(await kept()).toEqual([false, false, true]);
  });

  it.each([
    [new SimpleUser("")],
    [Object.assign(new SimpleUser("ann"), { isAuthenticated: false })],
    [Object.assign(new SimpleUser("ann"), { identity: 5 })],
  ])("requires a signed-in user with an identity: %j", async (user) => {
    await expect(made().keys.create(user)).rejects.toThrow("APIKeys.create requires a signed-in user with an identity");
  });
});

describe("the list of a user's API keys", () => {
  it("is removed with the last key, and is not written if nothing changes", async () => {
    const { keys, store, clock } = made();
    const { id } = await keys.create(ann);
    const list = keyIn(store, "apikeys-of:");
    clock.advance(100 * YEAR);
    expect(await store.get(list)).not.toBe(null);

    await keys.create(ann);
    store.take();
    expect(await keys.revokeAll(new SimpleUser("eve"))).toBe(0);
    expect(await keys.revoke(ann, id)).toBe(false);
    expect(store.take().filter((call) => !call.startsWith("get"))).toEqual([]);
    expect(await keys.revokeAll(ann)).toBe(1);
    clock.advance(1);
    expect(await store.get(list)).toBe(null);
  });

  it("keeps a key that is added while another one is", async () => {
    const { keys, store } = made();
    let others = 3;
    store.before = async (operation, key) => {
      if (operation !== "compareAndSet" || !key.startsWith("apikeys-of:") || others === 0) return;
      others--;
      await keys.create(ann);
    };
    await keys.create(ann);

    expect(await keys.list(ann)).toHaveLength(4);
  });
});

it("a new key is given up after 100 concurrent changes of the list", async () => {
  const { keys, store } = made();
  const set = store.compareAndSet.bind(store);
  let changes = 0;
  store.compareAndSet = async (key, expected, value, ttlMs) => {
    if (!key.startsWith("apikeys-of:")) return set(key, expected, value, ttlMs);
    changes++;
    return false;
  };

  await expect(keys.create(ann)).rejects.toMatchObject({
    status: 503,
    message: "Too many concurrent changes to these API keys. Try again.",
  });
  expect(changes).toBe(100);
});

describe("a key that is used to manage keys", () => {
  it("creates and renews none", async () => {
    const client = testClient(keyApp());
    const { key, id } = await make(client);
    const detail = "API keys cannot be used to create API keys. Sign in with a session or token.";

    expect((await client.post("/keys", { ...by(key), body: {} })).json()).toMatchObject({ status: 403, detail });
    expect((await client.post(`/keys/${id}/renew`, { ...by(key), body: {} })).json()).toMatchObject({
      status: 403,
      detail,
    });
    expect((await client.post(`/keys/${id}/renew`, { headers: ANN, body: {} })).status).toBe(200);
  });
});

describe("a renewed key", () => {
  it("keeps its last use, its name and its limits, and starts its lifetime again", async () => {
    const { keys, clock } = made();
    const first = await keys.create(ann, { name: "CI", permissions: ["read:books"], perMinute: 5 });
    await keys.verify(first.key);
    clock.advance(1_000);
    const renewed = await keys.renew(ann, first.id);

    expect(renewed).toEqual({
      ...first,
      key: expect.stringMatching(new RegExp(`^pk_${first.id}_`)) as string,
      lastFour: renewed?.key.slice(-4),
      createdAt: new Date(START + 1_000),
      expiresAt: new Date(START + 1_000 + YEAR),
      lastUsedAt: new Date(START),
    });
    expect(await keys.verify(first.key)).toBe(null);
  });

  it.each([
    ["expiresInSeconds", { expiresInSeconds: 0 }],
    ["expiresInSeconds", { expiresInSeconds: 3_153_600_001 }],
    ["expiresInSeconds", { expiresInSeconds: 1.5 }],
    ["overlapSeconds", { overlapSeconds: -1 }],
  ])("has a valid %s: not %j", async (option, options) => {
    const { keys } = made();
    const { id } = await keys.create(ann);

    await expect(keys.renew(ann, id, options)).rejects.toThrow(`APIKeys.renew.${option} must be`);
    expect(await keys.renew(ann, id, { expiresInSeconds: 3_153_600_000 })).not.toBe(null);
    expect(await keys.renew(ann, id, { expiresInSeconds: 1 })).not.toBe(null);
  });
});

it("outside a request, keys need a store", async () => {
  await expect(new APIKeys().list(ann)).rejects.toThrow(
    "APIKeys has no store: outside a request, create it with new APIKeys({ store })",
  );
});
