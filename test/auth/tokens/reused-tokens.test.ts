import { memoryStores, PorticoApp } from "portico";
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
import { logCatcher, manualClock, testClient } from "portico/testing";
import { describe, expect, it, vi } from "vitest";
import { SECRET } from "./token-app.ts";

/** Ann, with or without a version of her credentials. */
class Ann extends SimpleUser {
  readonly credentialVersion?: number;

  constructor(version?: number) {
    super("ann");
    if (version !== undefined) this.credentialVersion = version;
  }
}

function world(changes: Partial<RefreshOptions> = {}) {
  const clock = manualClock(1_800_000_000_000);
  const onReuse = vi.fn<(owner: RefreshOwner) => void>();
  const options: RefreshOptions = { secret: SECRET, refreshStore: memoryStores().durable, clock, onReuse, ...changes };
  const signIn = async (user = new Ann()): Promise<string> =>
    (await new TokenForUser(user, options).tokenPair()).refresh_token as string;
  const refresh = async (token: string, user: object | null = new Ann()): Promise<string> =>
    (await rotateRefreshToken(token, { loadUser: async () => user }, options)).refresh_token as string;
  return { clock, onReuse, options, signIn, refresh };
}

describe("the owner that onReuse is called with", () => {
  it.each<[string, Partial<RefreshOptions>, Ann, RefreshOwner]>([
    ["the identity alone", {}, new Ann(), { identity: "ann" }],
    ["the session", { sid: "s1" }, new Ann(), { identity: "ann", sid: "s1" }],
    ["the credential version", {}, new Ann(4), { identity: "ann", version: 4 }],
  ])("has %s", async (_, changes, user, owner) => {
    const { signIn, refresh, onReuse } = world({ ...changes, strictRefresh: true });
    const first = await signIn(user);
    await refresh(first, user);

    await expect(refresh(first, user)).rejects.toThrow(AuthenticationFailed);
    expect(onReuse.mock.calls).toStrictEqual([[owner]]);
  });
});

describe("an onReuse hook that fails", () => {
  const broken = { strictRefresh: true, onReuse: () => Promise.reject(new Error("the hook is broken")) };

  it("is logged, and the family is revoked", async () => {
    const { options, signIn, refresh } = world(broken);
    const first = await signIn();
    const second = await refresh(first);
    const log = logCatcher();
    const app = new PorticoApp({ logger: log }).post("/refresh", () => rotateRefreshToken(first, SimpleUser, options));

    expect((await testClient(app).post("/refresh")).status).toBe(401);
    await expect.poll(() => log.lines.filter(({ level }) => level === "error")).toHaveLength(1);
    expect(log.lines.find(({ level }) => level === "error")).toMatchObject({
      msg: "the onReuse hook failed for a reused refresh token",
      err: { message: "the hook is broken" },
    });
    await expect(refresh(second)).rejects.toThrow(AuthenticationFailed);
  });

  it("stays without effect outside a request", async () => {
    const { signIn, refresh } = world(broken);
    const first = await signIn();
    await refresh(first);

    await expect(refresh(first)).rejects.toThrow(AuthenticationFailed);
  });
});

describe("a token that is reused late", () => {
  it("does not excuse the ones before it", async () => {
    const { clock, onReuse, signIn, refresh } = world();
    const first = await signIn();
    const second = await refresh(first);
    const third = await refresh(second);
    clock.advance(10_000);

    expect(await refresh(second)).toBe(third);
    clock.advance(9_999);
    expect(await refresh(second)).toBe(third);
    expect(onReuse).not.toHaveBeenCalled();
    await expect(refresh(first)).rejects.toThrow(AuthenticationFailed);
    expect(onReuse).toHaveBeenCalledTimes(1);
    await expect(refresh(third)).rejects.toThrow(AuthenticationFailed);
  });

  it("is accepted again after others were used in time", async () => {
    const { clock, onReuse, signIn, refresh } = world();
    const late = async (token: string): Promise<string> => {
      const next = await refresh(token);
      clock.advance(60_000);
      expect(await refresh(token)).toBe(next);
      return next;
    };

    const second = await late(await signIn());
    const third = await refresh(second);
    await late(third);
    expect(onReuse).not.toHaveBeenCalled();
  });

  it("revokes the family if its parent was late as well", async () => {
    const { clock, onReuse, signIn, refresh } = world();
    const first = await signIn();
    const second = await refresh(first);
    clock.advance(60_000);
    await refresh(first);
    await refresh(second);
    clock.advance(60_000);

    await expect(refresh(second)).rejects.toThrow(AuthenticationFailed);
    expect(onReuse).toHaveBeenCalledTimes(1);
  });
});

describe("a user who refreshes", () => {
  it("may have got a version since, or lost it", async () => {
    const { signIn, refresh } = world();

    expect(await refresh(await signIn(), new Ann(7))).toMatch(/^prt_/);
    expect(await refresh(await signIn(new Ann(7)))).toMatch(/^prt_/);
    await expect(refresh(await signIn(new Ann(7)), new Ann(8))).rejects.toThrow("The refresh token is not valid");
  });

  it("must be authenticated, and may be of any class", async () => {
    const { signIn, refresh } = world();
    const token = await signIn();

    await expect(refresh(token, { isAuthenticated: false })).rejects.toThrow(AuthenticationFailed);
    expect(await refresh(token, {})).toMatch(/^prt_/);
  });
});

describe("lifetimes", () => {
  it("of one second end after one second, used or not", async () => {
    const { clock, signIn, refresh } = world({ refreshIdleSeconds: 5, refreshAbsoluteSeconds: 1 });
    const token = await signIn();
    clock.advance(999);
    const next = await refresh(token);
    clock.advance(1);

    await expect(refresh(next)).rejects.toThrow(AuthenticationFailed);
  });

  it("begin again with each use, until the family is too old", async () => {
    const { clock, signIn, refresh } = world({ refreshIdleSeconds: 10, refreshAbsoluteSeconds: 25 });
    let token = await signIn();
    for (let count = 0; count < 2; count++) {
      clock.advance(9_999);
      token = await refresh(token);
    }
    clock.advance(5_001);
    token = await refresh(token);
    clock.advance(1);

    await expect(refresh(token)).rejects.toThrow(AuthenticationFailed);
  });
});

describe("a family that is rotated too often", () => {
  it("is rejected with 429 and told when to come back, without an effect on the token", async () => {
    const { signIn, refresh } = world();
    let token = await signIn();
    for (let count = 0; count < 64; count++) token = await refresh(token);

    await expect(refresh(token)).rejects.toMatchObject({
      status: 429,
      message: "The refresh token is used too often. Try again later.",
      headers: { "retry-after": "10" },
    });
  });
});

it.each<[string, (options: never) => unknown]>([
  ["rotateRefreshToken", (options) => rotateRefreshToken("prt_", SimpleUser, options)],
  ["revokeRefreshTokensOf", (options) => revokeRefreshTokensOf("ann", options)],
  ["revokeRefreshToken", (options) => revokeRefreshToken("prt_", options)],
])("%s requires a store, and names itself", async (name, call) => {
  const act = async (): Promise<unknown> => call({ secret: SECRET } as never);

  await expect(act()).rejects.toThrow(`${name}.refreshStore is missing`);
});
