import { randomUUID } from "node:crypto";
import { SignJWT } from "jose";
import { oidc } from "portico/auth";
import { describe, expect, it } from "vitest";
import { clientId, clientSecret, type HostileProvider, hostileProvider, newSigner } from "./hostile-provider.ts";
import { type Person, person } from "./person.ts";
import { type Shop, shop } from "./provider-harness.ts";

type Claims = Record<string, unknown>;

interface World extends Shop {
  readonly hostile: HostileProvider;
  readonly claims: (changed?: Claims) => Claims;
  readonly logout: (token: string) => Promise<number>;
  readonly signIn: (claims?: Claims) => Promise<Person>;
  readonly isSignedIn: (browser: Person) => Promise<boolean>;
}

async function world(): Promise<World> {
  const hostile = await hostileProvider();
  const opened = await shop([oidc({ name: "acme", issuer: hostile.issuer, clientId, clientSecret })]);
  return {
    ...opened,
    hostile,
    claims: (changed) => ({
      iss: hostile.issuer,
      aud: clientId,
      iat: Math.floor(Date.now() / 1000),
      exp: Math.floor(Date.now() / 1000) + 120,
      jti: randomUUID(),
      sub: "ann",
      events: { "http://schemas.openid.net/event/backchannel-logout": {} },
      ...changed,
    }),
    async logout(token) {
      const body = new URLSearchParams({ logout_token: token });
      return (await fetch(`${opened.url}/account/providers/acme/backchannel-logout`, { method: "POST", body })).status;
    },
    async signIn(claims = {}) {
      Object.assign(hostile.answers.claims, claims);
      const browser = person();
      expect((await browser.open(`${opened.url}/account/providers/acme`)).at).toBe(`${opened.url}/`);
      return browser;
    },
    isSignedIn: async (browser) => (await browser.send(`${opened.url}/account/me`)).status === 200,
  };
}

const now = (): number => Math.floor(Date.now() / 1000);

describe("a logout token", () => {
  it("[auth:AU-306] can be sent again after an outage of the provider's keys", async () => {
    const { signIn, isSignedIn, logout, hostile, claims } = await world();
    const browser = await signIn();
    const token = await hostile.signer.sign(claims(), { typ: "logout+jwt" });
    hostile.answers.endpoints["/jwks"] = (_, response) => void response.writeHead(500).end();

    expect(await logout(token)).toBe(503);
    expect(await isSignedIn(browser)).toBe(true);
  });

  it("[auth:AU-229] ends all sessions of a sub, and is accepted once", async () => {
    const { signIn, isSignedIn, logout, hostile, claims } = await world();
    const browsers = [await signIn({ sid: "one" }), await signIn({ sid: "two" })];
    const token = await hostile.signer.sign(claims(), { typ: "logout+jwt" });

    expect([await logout(token), await logout(token)]).toEqual([200, 400]);
    expect(await Promise.all(browsers.map(isSignedIn))).toEqual([false, false]);
  });

  it("[auth:AU-230] ends only the session that its sid names, with and without a sub", async () => {
    const { signIn, isSignedIn, logout, hostile, claims } = await world();
    const browsers = [await signIn({ sid: "one" }), await signIn({ sid: "two" }), await signIn({ sid: "three" })];

    await logout(await hostile.signer.sign(claims({ sid: "one" })));
    await logout(await hostile.signer.sign(claims({ sid: "two", sub: undefined })));

    expect(await Promise.all(browsers.map(isSignedIn))).toEqual([false, false, true]);
  });

  it("[auth:AU-231] of another sub or an unknown sid is valid, and ends nothing", async () => {
    const { signIn, isSignedIn, logout, hostile, claims } = await world();
    const browser = await signIn();

    const replies = [
      await logout(await hostile.signer.sign(claims({ sub: "bob" }))),
      await logout(await hostile.signer.sign(claims({ sub: undefined, sid: "unknown" }))),
    ];

    expect([...replies, await isSignedIn(browser)]).toEqual([200, 200, true]);
  });

  it.each<[string, Claims]>([
    ["another issuer", { iss: "https://evil.example" }],
    ["another audience", { aud: "another" }],
    ["a nonce, as an id_token has", { nonce: "n" }],
    ["no event", { events: undefined }],
    ["another event", { events: { "https://evil.example": {} } }],
    ["an event that is not an object", { events: { "http://schemas.openid.net/event/backchannel-logout": true } }],
    ["no jti", { jti: undefined }],
    ["no iat", { iat: undefined }],
    ["an old iat", { iat: now() - 700 }],
    ["an iat in the future", { iat: now() + 600 }],
    ["an exp in the past", { exp: now() - 60 }],
    ["neither sub nor sid", { sub: undefined }],
  ])("is rejected with %s", async (_, changed) => {
    const { signIn, isSignedIn, logout, hostile, claims } = await world();
    const browser = await signIn();

    expect(await logout(await hostile.signer.sign(claims(changed)))).toBe(400);
    expect(await isSignedIn(browser)).toBe(true);
  });

  it("[auth:AU-232] is rejected with the signature of another key, without one, and with the client secret", async () => {
    const { signIn, isSignedIn, logout, hostile, claims } = await world();
    const browser = await signIn();
    const other = await newSigner("first");
    const [, payload] = (await hostile.signer.sign(claims())).split(".");
    const none = `${Buffer.from('{"alg":"none"}').toString("base64url")}.${payload}.`;
    const secret = new TextEncoder().encode(clientSecret);
    const hmac = await new SignJWT(claims()).setProtectedHeader({ alg: "HS256", kid: "first" }).sign(secret);

    const tokens = [await other.sign(claims()), none, hmac, "", "x".repeat(10_000)];

    expect(await Promise.all(tokens.map(logout))).toEqual(tokens.map(() => 400));
    expect(await isSignedIn(browser)).toBe(true);
  });

  it("must be sent as a form to a provider that exists", async () => {
    const { url } = await world();
    const send = async (name: string, init: RequestInit): Promise<number> =>
      (await fetch(`${url}/account/providers/${name}/backchannel-logout`, { method: "POST", ...init })).status;

    expect(await send("acme", { body: new URLSearchParams({ other: "x" }) })).toBe(400);
    expect(await send("acme", { body: "{}", headers: { "content-type": "application/json" } })).toBe(415);
    expect(await send("unknown", { body: new URLSearchParams({ logout_token: "x" }) })).toBe(404);
  });
});
