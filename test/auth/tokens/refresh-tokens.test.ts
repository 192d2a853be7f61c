import { decodeJwt } from "jose";
import { type KeyValueStore, memoryStores, PorticoApp } from "portico";
import {
  AuthenticationFailed,
  type RefreshOptions,
  type RefreshOwner,
  revokeRefreshToken,
  revokeRefreshTokensOf,
  rotateRefreshToken,
  SimpleUser,
  TokenForUser,
} from "portico/auth";
import { liveClient, logCatcher, manualClock } from "portico/testing";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { OTHER_SECRET, SECRET } from "./token-app.ts";

/** A store that shows what is in it, and counts the writes. */
function openStore(): { readonly store: KeyValueStore; readonly contents: Map<string, string>; writes: number } {
  const contents = new Map<string, string>();
  const shown = { contents, writes: 0 };
  const put = (key: string, value: string): void => {
    shown.writes++;
    contents.set(key, value);
  };
  const store: KeyValueStore = {
    get: async (key) => contents.get(key) ?? null,
    set: async (key, value) => put(key, value),
    setIfAbsent: (key, value) => store.compareAndSet(key, null, value),
    async compareAndSet(key, expected, value) {
      if ((contents.get(key) ?? null) !== expected) return false;
      put(key, value);
      return true;
    },
    async delete(key) {
      shown.writes++;
      return contents.delete(key);
    },
  };
  return Object.assign(shown, { store });
}

const DAY = 86_400_000;

describe("refresh tokens", () => {
  let clock = manualClock(1_800_000_000_000);
  let shown = openStore();
  let options: RefreshOptions = { secret: SECRET, refreshStore: shown.store, clock };
  const onReuse = vi.fn<(owner: RefreshOwner) => void>();
  beforeEach(() => {
    onReuse.mockClear();
    clock = manualClock(1_800_000_000_000);
    shown = openStore();
    options = { secret: SECRET, refreshStore: shown.store, clock, onReuse, sid: "s1" };
  });

  const signIn = async (): Promise<string> =>
    (await new TokenForUser(new SimpleUser("ann"), options).tokenPair()).refresh_token as string;
  const refresh = async (token: unknown, changes: Partial<RefreshOptions> = {}): Promise<string> =>
    (await rotateRefreshToken(token, SimpleUser, { ...options, ...changes })).refresh_token as string;

  it("[BCK-26] are opaque, and stored only as hashes", async () => {
    const first = await signIn();
    const second = await refresh(first);
    const stored = JSON.stringify([...shown.contents]);

    for (const token of [first, second]) {
      expect(token.split(".")).toHaveLength(1);
      const bytes = Buffer.from(token.slice(4), "base64url");
      for (const text of [
        token,
        token.slice(4),
        ...["base64url", "hex", "base64"].map((form) => bytes.subarray(20, 52).toString(form as "hex")),
      ])
        expect(stored).not.toContain(text);
    }
  });

  it("[BCK-27] [auth:AU-088] rotate: each use returns a new pair for the same user and session", async () => {
    const first = await signIn();

    const pair = await rotateRefreshToken(first, SimpleUser, options);

    expect(pair).toMatchObject({ token_type: "Bearer", expires_in: 600 });
    expect(decodeJwt(pair.access_token)).toMatchObject({ sub: "ann", sid: "s1" });
    expect(pair.refresh_token).not.toBe(first);
    expect(await refresh(pair.refresh_token)).not.toBe(pair.refresh_token);
  });

  it("[BCK-29] [auth:AU-193] return the same successor for 10 s, and once after that until it is used", async () => {
    const first = await signIn();
    const second = await refresh(first);

    expect(await refresh(first)).toBe(second);
    clock.advance(3_600_000);
    expect(await refresh(first)).toBe(second);

    const third = await refresh(second);
    clock.advance(5000);
    expect(await refresh(second)).toBe(third);
    const fourth = await refresh(third);
    clock.advance(4999);
    expect(await refresh(second)).toBe(third);
    expect(await refresh(third)).toBe(fourth);
    expect(onReuse).not.toHaveBeenCalled();
  });

  it("[BCK-28] [auth:AU-089] [auth:AU-193] revoke their family when they are reused after that", async () => {
    const first = await signIn();
    const second = await refresh(first);
    const third = await refresh(second);
    clock.advance(11_000);

    await expect(refresh(first)).rejects.toThrow(AuthenticationFailed);

    for (const token of [first, second, third]) await expect(refresh(token)).rejects.toThrow(AuthenticationFailed);
    expect(onReuse.mock.calls).toEqual([[{ identity: "ann", sid: "s1" }]]);
    expect([...shown.contents.keys()]).toEqual([]);
  });

  it("[BCK-28] [auth:AU-089] revoke their family when a thief and a victim take turns, ten minutes apart", async () => {
    const first = await signIn();
    const [victim, thief] = [await refresh(first), first];
    clock.advance(600_000);
    const stolen = await refresh(thief);
    clock.advance(600_000);
    await refresh(victim);
    clock.advance(600_000);

    await expect(refresh(stolen)).rejects.toThrow(AuthenticationFailed);

    expect(onReuse).toHaveBeenCalledTimes(1);
    expect([...shown.contents.keys()]).toEqual([]);
  });

  it("[BCK-29] return the successor once more after ten seconds to each tab that lost the response, and then revoke their family", async () => {
    const first = await signIn();
    const second = await refresh(first);
    clock.advance(3_600_000);

    expect(await Promise.all([refresh(first), refresh(first)])).toEqual([second, second]);
    clock.advance(9_999);
    expect(await refresh(first)).toBe(second);
    const third = await refresh(second);
    expect(await refresh(first)).toBe(second);
    clock.advance(1);
    await expect(refresh(first)).rejects.toThrow(AuthenticationFailed);
    await expect(refresh(third)).rejects.toThrow(AuthenticationFailed);
  });

  it("[BCK-29] are accepted late again after a rotation whose response arrived", async () => {
    let token = await signIn();
    for (let times = 0; times < 5; times++) {
      await refresh(token);
      clock.advance(60_000);
      const repeated = await refresh(token);
      clock.advance(600_000);
      const clean = await refresh(repeated);
      clock.advance(600_000);
      token = await refresh(clean);
    }
    expect(onReuse).not.toHaveBeenCalled();
  });

  it.each([
    ["throws", () => expect.fail("the audit log is down")],
    ["rejects", async () => expect.fail("the audit log is down")],
  ])("rejects a copy in the same way when onReuse %s", async (_, hook) => {
    const first = await signIn();
    await refresh(await refresh(first));
    clock.advance(DAY);

    await expect(refresh(first, { onReuse: hook })).rejects.toThrow(AuthenticationFailed);
  });

  it("revoke their family at any age, but not a family of another sign-in", async () => {
    const [first, other] = [await signIn(), await signIn()];
    let newest = first;
    for (let count = 0; count < 100; count++) {
      clock.advance(60_000);
      newest = await refresh(newest);
    }

    await expect(refresh(first)).rejects.toThrow(AuthenticationFailed);

    await expect(refresh(newest)).rejects.toThrow(AuthenticationFailed);
    expect(await refresh(other)).toMatch(/^prt_/);
  });

  it("[auth:AU-090] return the same successor to ten parallel calls, with one write", async () => {
    const first = await signIn();
    const before = shown.writes;

    const successors = await Promise.all(Array.from({ length: 10 }, () => refresh(first)));

    expect(new Set(successors).size).toBe(1);
    expect(shown.writes - before).toBe(1);
    expect(await refresh(successors[0])).toMatch(/^prt_/);
  });

  it("[auth:AU-091] return the same successor on reuse, or revoke their family at once with strictRefresh", async () => {
    const unused = await signIn();
    expect(await refresh(unused)).toBe(await refresh(unused));
    const first = await signIn();
    const second = await refresh(first, { strictRefresh: true });

    await expect(refresh(first, { strictRefresh: true })).rejects.toThrow(AuthenticationFailed);
    await expect(refresh(second)).rejects.toThrow(AuthenticationFailed);
  });

  it("[auth:AU-096] expire after 30 days, even if they are used, and after 14 days unused", async () => {
    let token = await signIn();
    const idle = await signIn();
    for (let day = 0; day < 29; day += 10) {
      clock.advance(day === 20 ? 9.9 * DAY : 10 * DAY);
      token = await refresh(token);
    }

    await expect(refresh(idle)).rejects.toThrow(AuthenticationFailed);
    clock.advance(0.1 * DAY);
    await expect(refresh(token)).rejects.toThrow(AuthenticationFailed);
  });

  it("expire in the store at the same time", async () => {
    const store = memoryStores().durable;
    const set = vi.spyOn(store, "set");
    const swap = vi.spyOn(store, "compareAndSet");
    const { refresh_token } = await new TokenForUser(new SimpleUser("ann"), {
      ...options,
      refreshStore: store,
    }).tokenPair();
    clock.advance(20 * 1000);

    await refresh(refresh_token, { refreshStore: store });

    expect([set.mock.calls[0]?.[2], swap.mock.calls[0]?.[3]]).toEqual([14 * DAY, 14 * DAY]);
  });

  it("survive a new secret, with the successor that was issued before it", async () => {
    const first = await signIn();
    const second = await refresh(first);
    const ring = { secret: [OTHER_SECRET, SECRET] };

    const again = await refresh(first, ring);
    const third = await refresh(again, ring);

    expect(await refresh(second, ring)).toBe(third);
    await expect(refresh(third, { secret: SECRET })).rejects.toThrow(AuthenticationFailed);
    await expect(refresh(second, { secret: OTHER_SECRET })).rejects.toThrow(AuthenticationFailed);
  });

  it("stay unchanged if the user is deleted or cannot be loaded", async () => {
    const first = await signIn();
    const before = shown.writes;
    const down = { loadUser: () => Promise.reject(new Error("no database")) };

    await expect(rotateRefreshToken(first, { loadUser: async () => null }, options)).rejects.toThrow(
      AuthenticationFailed,
    );
    await expect(rotateRefreshToken(first, down, options)).rejects.toThrow("no database");

    expect(shown.writes).toBe(before);
    expect(await refresh(first)).toMatch(/^prt_/);
  });

  it("are revoked by revokeRefreshToken with any token of the family", async () => {
    const first = await signIn();
    const second = await refresh(first);

    expect(await revokeRefreshToken(first, options)).toBe(true);
    expect(await revokeRefreshToken(second, options)).toBe(false);
    expect(await revokeRefreshToken("prt_", options)).toBe(false);
    await expect(refresh(second)).rejects.toThrow(AuthenticationFailed);
  });

  it("are revoked everywhere by revokeRefreshTokensOf, and can be issued again after it", async () => {
    const before = [await signIn(), await signIn()];

    await revokeRefreshTokensOf("ann", options);
    const after = await signIn();

    for (const token of before) await expect(refresh(token)).rejects.toThrow(AuthenticationFailed);
    expect(await refresh(after)).toMatch(/^prt_/);
  });

  it("reject a family that is rotated too often, without revoking it", async () => {
    let token = await signIn();
    for (let count = 0; count < 64; count++) token = await refresh(token);

    await expect(refresh(token)).rejects.toMatchObject({ status: 429 });
    clock.advance(10_000);

    expect(await refresh(token)).toMatch(/^prt_/);
  });

  it("reject with the error of the store", async () => {
    const first = await signIn();
    const refreshStore = { ...shown.store, get: () => Promise.reject(new Error("the store is down")) };

    await expect(refresh(first, { refreshStore })).rejects.toThrow("the store is down");
  });

  it("[auth:AU-092] [auth:AU-093] are rejected with one identical response for every reason, and are never shown", async () => {
    const log = logCatcher();
    const client = await liveClient(
      new PorticoApp({ logger: log }).post("/refresh", async ({ request, response }) => {
        const { token } = (await request.json()) as { readonly token: unknown };
        response.header("cache-control", "no-store");
        return rotateRefreshToken(token, SimpleUser, options);
      }),
    );
    const post = (token: unknown): ReturnType<typeof client.post> => client.post("/refresh", { body: { token } });
    const valid = await signIn();
    const revoked = await signIn();
    await revokeRefreshToken(revoked, options);
    const other = memoryStores().durable;
    const pair = await new TokenForUser(new SimpleUser("ann"), { ...options, refreshStore: other }).tokenPair();
    const altered = `${valid.slice(0, 30)}${valid[30] === "a" ? "b" : "a"}${valid.slice(31)}`;
    const refused = [
      revoked,
      pair.refresh_token,
      pair.access_token,
      altered,
      `${valid}=`,
      `${valid}\n`,
      valid.replace("prt_", "prx_"),
      valid.slice(0, -1),
      "",
      "prt_",
      null,
      7,
      [valid],
      { token: valid },
    ];

    const bodies = new Set<string>();
    for (const token of refused) {
      const answer = await post(token);
      expect([answer.status, answer.headers["cache-control"]]).toEqual([401, "no-store"]);
      const { correlation_id: _id, ...body } = answer.json() as Record<string, unknown>;
      bodies.add(JSON.stringify(body));
    }
    const accepted = await post(valid);
    await client.close();

    expect([bodies.size, accepted.status]).toEqual([1, 200]);
    const successor = (accepted.json() as { readonly refresh_token: string }).refresh_token;
    const secrets = [...refused, valid, successor].filter((token) => typeof token === "string" && token.length > 8);
    for (const token of secrets as string[]) expect(log.text + [...bodies].join()).not.toContain(token.trim());
  });
});
