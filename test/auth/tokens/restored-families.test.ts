import { type KeyValueStore, memoryStores } from "portico";
import {
  AuthenticationFailed,
  type RefreshOptions,
  revokeRefreshToken,
  rotateRefreshToken,
  SimpleUser,
  TokenForUser,
} from "portico/auth";
import { type ManualClock, manualClock } from "portico/testing";
import { expect, it, vi } from "vitest";
import { RecordingStore } from "../sessions/recording-store.ts";
import { OTHER_SECRET, SECRET } from "./token-app.ts";

interface Tokens {
  readonly clock: ManualClock;
  readonly store: RecordingStore;
  readonly options: RefreshOptions;
  readonly onReuse: ReturnType<typeof vi.fn>;
  readonly signIn: () => Promise<string>;
  readonly refresh: (token: string, changes?: Partial<RefreshOptions>) => Promise<string>;
}

function tokens(changes: Partial<RefreshOptions> = {}): Tokens {
  const clock = manualClock(1_800_000_000_000);
  const store = new RecordingStore({ clock });
  const onReuse = vi.fn<() => void>();
  const options: RefreshOptions = { secret: SECRET, refreshStore: store, clock, onReuse, ...changes };
  return {
    clock,
    store,
    options,
    onReuse,
    signIn: async () => (await new TokenForUser(new SimpleUser("ann"), options).tokenPair()).refresh_token as string,
    refresh: async (token, more = {}) =>
      (await rotateRefreshToken(token, SimpleUser, { ...options, ...more })).refresh_token as string,
  };
}

/** The family in the store, and its key. */
const familyIn = ({ entries }: RecordingStore): readonly [string, string] =>
  [...entries].find(([key]) => key.startsWith("refresh:")) as [string, string];

it("a token is rejected, but ends nothing, if the store was restored to a time before it was issued", async () => {
  const { store, signIn, refresh, onReuse } = tokens();
  const first = await signIn();
  const [key, before] = familyIn(store);
  const third = await refresh(await refresh(first));
  await store.set(key, before);

  await expect(refresh(third)).rejects.toThrow(AuthenticationFailed);
  expect(await refresh(first)).toMatch(/^prt_/);
  expect(onReuse).not.toHaveBeenCalled();
});

it("a token whose secret is not that of its place in the family is rejected, but ends nothing", async () => {
  const { store, signIn, refresh, onReuse } = tokens();
  const first = await signIn();
  const second = await refresh(first);
  const [key, text] = familyIn(store);
  const family = JSON.parse(text) as { newest: string; spent: [string, number][] };
  const other = "A".repeat(43);

  await store.set(key, JSON.stringify({ ...family, newest: other }));
  await expect(refresh(second)).rejects.toThrow(AuthenticationFailed);
  await expect(refresh(first)).rejects.toThrow(AuthenticationFailed);
  await store.set(key, JSON.stringify({ ...family, spent: [[other, family.spent[0]?.[1]]] }));
  await expect(refresh(first)).rejects.toThrow(AuthenticationFailed);
  await store.set(key, text);
  expect(await refresh(second)).toMatch(/^prt_/);
  expect(onReuse).not.toHaveBeenCalled();
});

it("a spent token returns the successor that an older secret derived, and none that no listed secret derives", async () => {
  const { signIn, refresh } = tokens();
  const first = await signIn();
  const second = await refresh(first);

  expect((await refresh(first, { secret: [OTHER_SECRET, SECRET] })).slice(0, 60)).toBe(second.slice(0, 60));
  const other = await refresh(second, { secret: [OTHER_SECRET, SECRET] });
  await expect(refresh(second, { secret: SECRET })).rejects.toThrow(AuthenticationFailed);
  expect(await refresh(other, { secret: [OTHER_SECRET] })).toMatch(/^prt_/);
});

it("forgets spent tokens ten seconds after their use, and keeps those in between", async () => {
  const { store, clock, signIn, refresh } = tokens();
  const spent = (): number => (JSON.parse(familyIn(store)[1]) as { spent: unknown[] }).spent.length;
  const counts: number[] = [];
  let token = await signIn();
  for (const ms of [0, 4_000, 4_000, 1_999, 1, 10_000, 9_999]) {
    clock.advance(ms);
    token = await refresh(token);
    counts.push(spent());
  }

  expect(counts).toEqual([1, 2, 3, 4, 4, 1, 2]);
});

it("refuses with 503 if other requests change the family each time", async () => {
  const { options, signIn } = tokens();
  const first = await signIn();
  const { refreshStore: inner } = options;
  let tries = 0;
  const refreshStore: KeyValueStore = {
    get: (key) => inner.get(key),
    set: (key, value, ttlMs) => inner.set(key, value, ttlMs),
    setIfAbsent: (key, value, ttlMs) => inner.setIfAbsent(key, value, ttlMs),
    delete: (key) => inner.delete(key),
    compareAndSet: async () => {
      tries++;
      return false;
    },
  };

  await expect(rotateRefreshToken(first, SimpleUser, { ...options, refreshStore })).rejects.toMatchObject({
    status: 503,
    message: "The refresh token is used by too many requests at once. Try again.",
    headers: { "retry-after": "1" },
  });
  expect(tries).toBeGreaterThan(1);
});

it("a family is revoked once, by any of its tokens", async () => {
  const { options, signIn, refresh } = tokens();
  const first = await signIn();
  const second = await refresh(first);

  expect(await revokeRefreshToken("prt_x", options)).toBe(false);
  expect(await revokeRefreshToken(first, options)).toBe(true);
  expect(await revokeRefreshToken(first, options)).toBe(false);
  await expect(refresh(second)).rejects.toThrow(AuthenticationFailed);
});

it.each([null, undefined, 1, {}, "", "prt_", `prt_${"A".repeat(91)}`, `prt_${"A".repeat(90)}`])(
  "%j is not a refresh token",
  async (text) => {
    const options = { secret: SECRET, refreshStore: memoryStores().durable };

    await expect(rotateRefreshToken(text, SimpleUser, options)).rejects.toThrow(AuthenticationFailed);
    expect(await revokeRefreshToken(text, options)).toBe(false);
  },
);
