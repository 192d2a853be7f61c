import { decodeJwt, decodeProtectedHeader } from "jose";
import { AnonymousUser, memoryStores } from "portico";
import { JWTAuthBackend, SimpleUser, TokenForUser, type TokenOptions, type TokenPair } from "portico/auth";
import { liveClient, testClient } from "portico/testing";
import { describe, expect, expectTypeOf, it, vi } from "vitest";
import {
  ANN,
  ANONYMOUS,
  backendFor,
  bearing,
  clock,
  NOW,
  OTHER_SECRET,
  refusalFrom,
  SECRET,
  standing,
  tokenApp,
} from "./token-app.ts";

const ann = new SimpleUser("ann");
const pairFor = (options: Partial<TokenOptions> = {}): Promise<TokenPair> =>
  new TokenForUser(ann, { secret: SECRET, clock, ...options }).tokenPair();

describe("TokenForUser", () => {
  it("[BCK-11] [BCK-30] returns an access token, its type and its lifetime", async () => {
    expect(await pairFor()).toEqual({
      access_token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
      token_type: "Bearer",
      expires_in: 600,
    });
    expectTypeOf(pairFor).returns.resolves.toEqualTypeOf<TokenPair>();
  });

  it("[BCK-12] [BCK-23] [BCK-24] contains the user in sub for ten minutes, and no other claims", async () => {
    const { access_token } = await pairFor();

    expect(decodeJwt(access_token)).toEqual({ sub: "ann", iat: NOW, exp: NOW + 600, jti: expect.any(String) });
  });

  it("[BCK-24] contains issuer, audience and session if they are set", async () => {
    const { access_token } = await pairFor({ issuer: "us", audience: "shop", sid: "s1", accessSeconds: 60 });

    expect(decodeJwt(access_token)).toEqual({
      sub: "ann",
      iat: NOW,
      exp: NOW + 60,
      jti: expect.any(String),
      iss: "us",
      aud: "shop",
      sid: "s1",
    });
  });

  it("[BCK-24] gives each token a unique id", async () => {
    const [one, two] = [await pairFor(), await pairFor()];

    expect(decodeJwt(one.access_token).jti).not.toBe(decodeJwt(two.access_token).jti);
  });

  it("[BCK-25] has the type at+jwt in its header", async () => {
    expect(decodeProtectedHeader((await pairFor()).access_token)).toEqual({ alg: "HS256", typ: "at+jwt" });
  });

  it("[BCK-13] issues tokens that a backend for sub accepts", async () => {
    const { access_token } = await pairFor({ issuer: "us", audience: "shop" });
    const { app, log } = tokenApp(backendFor({ issuer: "us", audience: "shop", typ: "at+jwt" }));
    const client = await liveClient(app);

    expect(await standing(client, `Bearer ${access_token}`)).toEqual(ANN);
    await client.close();
    expect(log.text).not.toContain(access_token);
  });

  it("[BCK-14] issues tokens that a backend for id declines", async () => {
    const { access_token } = await pairFor();
    const loadUser = vi.fn<typeof SimpleUser.loadUser>((identity) => SimpleUser.loadUser(identity));
    const client = await liveClient(tokenApp(new JWTAuthBackend({ secretKey: SECRET, clock }), { loadUser }).app);

    expect(await standing(client, `Bearer ${access_token}`)).toEqual(ANONYMOUS);
    await client.close();
    expect(loadUser).not.toHaveBeenCalled();
  });

  it("[BCK-31] returns a refresh token only if a store is set", async () => {
    const withStore = await pairFor({ refreshStore: memoryStores().durable });

    expect(withStore.refresh_token).toMatch(/^prt_[\w-]{91}$/);
    expect(await pairFor()).not.toHaveProperty("refresh_token");
  });

  it("[auth:AU-024] issues a refresh token that is not accepted as an access token", async () => {
    const { refresh_token } = await pairFor({ refreshStore: memoryStores().durable });
    const client = await liveClient(tokenApp(backendFor()).app);

    expect(await standing(client, `Bearer ${refresh_token}`)).toEqual(ANONYMOUS);
    await client.close();
  });

  it("signs with the first secret of a list", async () => {
    const { access_token } = await pairFor({ secret: [OTHER_SECRET, SECRET] });
    const statuses = [OTHER_SECRET, SECRET].map(async (secretKey) => {
      const { app } = tokenApp(backendFor({ secretKey }));
      return (await testClient(app).get("/gated", bearing(access_token))).status;
    });

    expect(await Promise.all(statuses)).toEqual([200, 401]);
  });

  it("rejects an anonymous user", () => {
    expect(() => new TokenForUser(new AnonymousUser(), { secret: SECRET })).toThrow(TypeError);
    expect(() => new TokenForUser(new SimpleUser(""), { secret: SECRET })).toThrow(TypeError);
    const others = [
      { isAuthenticated: false, identity: "ann" },
      { isAuthenticated: true, identity: 5 },
    ];
    for (const other of others)
      expect(() => new TokenForUser(Object.assign(new AnonymousUser(), other), { secret: SECRET })).toThrow(
        "TokenForUser requires a signed-in user with an identity",
      );
  });

  it.each<readonly [string, object, string]>([
    ["no secret", {}, "TokenForUser.secret"],
    ["a short secret", { secret: "too short to be one" }, "TokenForUser.secret"],
    ["a lifetime of nothing", { secret: SECRET, accessSeconds: 0 }, "TokenForUser.accessSeconds"],
    ["an audience that vanished", { secret: SECRET, audience: undefined }, "TokenForUser.audience"],
    ["a store that vanished", { secret: SECRET, refreshStore: undefined }, "TokenForUser.refreshStore"],
    ["an invalid store", { secret: SECRET, refreshStore: new Map() }, "TokenForUser.refreshStore"],
    ["a misspelt option", { secret: SECRET, issuers: "us" }, "TokenForUser.issuers"],
  ])("rejects %s, and shows no secret", (_title, options, option) => {
    const refusal = refusalFrom(() => new TokenForUser(ann, options));

    expect(refusal.option).toBe(option);
    expect(String(refusal)).not.toMatch(/too short to be one|vJ3qk2x8/);
  });
});
