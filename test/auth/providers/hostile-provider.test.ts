import { SignJWT, UnsecuredJWT } from "jose";
import { memoryStores } from "portico";
import { type OIDCOptions, oidc } from "portico/auth";
import { logCatcher, manualClock } from "portico/testing";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { MemoryKeyValue } from "../../../src/stores/memory-key-value.ts";
import {
  type Answers,
  clientId,
  clientSecret,
  type HostileProvider,
  hostileProvider,
  newSigner,
} from "./hostile-provider.ts";
import { type Person, person } from "./person.ts";
import { type Shop, shop } from "./provider-harness.ts";

interface World extends Shop {
  readonly hostile: HostileProvider;
  /** Signs in and returns the path where it ends. */
  readonly attempt: (browser?: Person) => Promise<string>;
}

async function world(
  options: Partial<OIDCOptions> = {},
  ...rest: Parameters<typeof shop> extends [unknown, ...infer R] ? R : never
): Promise<World> {
  const hostile = await hostileProvider();
  const provider = oidc({ name: "acme", issuer: hostile.issuer, clientId, clientSecret, ...options });
  const opened = await shop([provider], ...rest);
  return {
    ...opened,
    hostile,
    async attempt(browser = person()) {
      const { at } = await browser.open(`${opened.url}/account/providers/acme?return_to=/orders`);
      return at.slice(opened.url.length);
    },
  };
}

const failed = "/sign-in?error=provider_sign_in_failed";
const unavailable = "/sign-in?error=provider_unavailable";
const encoded = (value: string): Uint8Array => new TextEncoder().encode(value);
const never = (): void => {};

type Twist = (answers: Answers, hostile: HostileProvider) => void | Promise<void>;
const twists: Record<string, Twist> = {
  "another issuer in the id_token": ({ claims }) => void (claims["iss"] = "https://evil.example"),
  "another audience": ({ claims }) => void (claims["aud"] = "another-client"),
  "several audiences and another azp": ({ claims }) => void Object.assign(claims, { aud: [clientId, "x"], azp: "x" }),
  "another nonce": ({ claims }) => void (claims["nonce"] = "the-nonce-of-another-sign-in"),
  "no nonce": ({ claims }) => void (claims["nonce"] = undefined),
  "no sub": ({ claims }) => void (claims["sub"] = undefined),
  "an empty sub": ({ claims }) => void (claims["sub"] = ""),
  "an expired id_token": ({ claims }) => void (claims["exp"] = Math.floor(Date.now() / 1000) - 120),
  "an id_token that is not valid yet": ({ claims }) => void (claims["nbf"] = Math.floor(Date.now() / 1000) + 600),
  "alg: none": (answers) => void (answers.idToken = (claims) => new UnsecuredJWT(claims).encode()),
  "HS256 with the client secret": (answers) => {
    answers.idToken = (claims) => new SignJWT(claims).setProtectedHeader({ alg: "HS256" }).sign(encoded(clientSecret));
  },
  "HS256 with the public key": (answers, { signer }) => {
    const key = encoded(JSON.stringify(signer.jwk));
    answers.idToken = (claims) => new SignJWT(claims).setProtectedHeader({ alg: "HS256", kid: "first" }).sign(key);
  },
  "the signature of another key with the same kid": async (answers) => {
    const other = await newSigner("first");
    answers.idToken = (claims) => other.sign(claims);
  },
  "a key inside the id_token": async (answers) => {
    const other = await newSigner("other");
    answers.idToken = (claims) => other.sign(claims, { jwk: other.jwk, kid: undefined });
  },
  "a changed payload": (answers, { signer }) => {
    answers.idToken = async (claims) => {
      const [head, , signature] = (await signer.sign(claims)).split(".");
      return [head, Buffer.from(JSON.stringify({ ...claims, sub: "bob" })).toString("base64url"), signature].join(".");
    };
  },
  "an id_token that is not a token": (answers) => void (answers.idToken = () => "a.b.c"),
  "another iss parameter": ({ callback }) => void (callback["iss"] = "https://evil.example"),
  "no iss parameter, which the metadata announce": (answers) => void (answers.callback = {}),
  "another sub in the user info": (answers) => {
    answers.claims["email"] = undefined;
    answers.userinfo = { sub: "bob", email: "ann@acme.com", email_verified: true };
  },
  "a code that was already used": (answers) => {
    answers.endpoints["/token"] = (_, response) =>
      void response.writeHead(400, { "content-type": "application/json" }).end('{"error":"invalid_grant"}');
  },
  "no id_token": (answers) => {
    answers.endpoints["/token"] = (_, response) =>
      void response
        .writeHead(200, { "content-type": "application/json" })
        .end('{"access_token":"a","token_type":"bearer"}');
  },
  "a redirect of the token endpoint": (answers) => {
    answers.endpoints["/token"] = (_, response) => void response.writeHead(302, { location: "/other" }).end();
  },
};

describe("a provider", () => {
  it("signs in while its answers are valid", async () => {
    const { attempt } = await world();

    expect(await attempt()).toBe("/orders");
  });

  it.each(Object.entries(twists))("[auth:AU-188] [auth:AU-210] signs no user in with %s", async (_, twist) => {
    const { attempt, hostile, url, users, events } = await world();
    await twist(hostile.answers, hostile);
    const browser = person();

    expect(await attempt(browser)).toBe(failed);

    expect((await browser.send(`${url}/account/me`)).status).toBe(401);
    expect(await users.objects.get({ email: "ann@acme.com" })).toBeNull();
    expect(events.map(({ kind }) => kind)).toEqual(["provider_sign_in_failed"]);
  });

  it("[auth:AU-211] may deny the sign-in", async () => {
    const { attempt, hostile } = await world();
    hostile.answers.callback = { error: "access_denied", iss: hostile.issuer };

    expect(await attempt()).toBe("/sign-in?error=provider_denied");
  });

  it('[auth:AU-212] does not verify an address with email_verified: "true", which is text', async () => {
    const { attempt, hostile } = await world();
    hostile.answers.claims["email_verified"] = "true";

    expect(await attempt()).toBe("/sign-in?error=provider_email_not_verified");
  });

  it("[auth:AU-213] may have a clock that is a little off", async () => {
    const { attempt, hostile } = await world();
    const now = Math.floor(Date.now() / 1000);
    Object.assign(hostile.answers.claims, { iat: now + 15, nbf: now + 15 });

    expect(await attempt()).toBe("/orders");
  });

  it("[auth:AU-214] keeps tokens and secrets out of the log", async () => {
    const log = logCatcher();
    const { attempt, hostile } = await world({}, {}, { logger: log });
    hostile.answers.claims["aud"] = "another-client";

    await attempt();

    expect(log.text).toContain("the identity provider failed");
    for (const secret of ["an-access-token", clientSecret, "eyJ", "code-0"]) expect(log.text).not.toContain(secret);
  });
});

describe("the state of a sign-in", () => {
  const isCallback = (at: string): boolean => at.includes("/callback?");
  const invalid = "/sign-in?error=provider_state_invalid";

  it("[auth:AU-215] is accepted once", async () => {
    const { url } = await world();
    const browser = person();
    const { at } = await browser.open(`${url}/account/providers/acme`, isCallback);

    const [first, second] = [await browser.open(at), await browser.open(at)];

    expect([first.at, second.at]).toEqual([`${url}/`, url + invalid]);
  });

  it("[auth:AU-216] is accepted once even if two requests come at the same time", async () => {
    const { url } = await world();
    const browser = person();
    const { at } = await browser.open(`${url}/account/providers/acme`, isCallback);

    const ends = await Promise.all([browser.open(at), browser.open(at), browser.open(at)]);

    expect(ends.filter((end) => end.at === `${url}/`)).toHaveLength(1);
  });

  it("[auth:AU-188] [auth:AU-217] is not accepted from another browser, which does not spoil it either", async () => {
    const { url, hostile } = await world();
    const [victim, attacker] = [person(), person()];
    const { at } = await victim.open(`${url}/account/providers/acme`, isCallback);
    await attacker.open(`${url}/account/providers/acme`, isCallback);

    const stolen = await attacker.open(at);
    const without = await person().open(at);

    expect([stolen.at, without.at]).toEqual([url + invalid, url + invalid]);
    expect(hostile.requests).not.toContain("/token");
    expect((await victim.open(at)).at).toBe(`${url}/`);
  });

  it("[auth:AU-218] is not accepted after ten minutes, and not if it is missing, unknown or sent twice", async () => {
    const clock = manualClock();
    const stores = { ...memoryStores(), durable: new MemoryKeyValue({ clock }) };
    const { url } = await world({}, {}, { clock, stores });
    const browser = person();
    const { at } = await browser.open(`${url}/account/providers/acme`, isCallback);
    const callback = `${url}/account/providers/acme/callback`;

    const bad = [callback, `${callback}?state=`, `${callback}?state=unknown&code=x`];
    for (const place of bad) expect((await browser.open(place)).at).toBe(url + invalid);
    expect((await browser.send(`${at}&state=other`)).status).toBe(422);
    clock.advance(600_001);

    expect((await browser.open(at)).at).toBe(url + invalid);
  });

  it("[auth:AU-219] belongs to one provider", async () => {
    const [one, two] = [await hostileProvider(), await hostileProvider()];
    const providers = [one, two].map(({ issuer }, index) =>
      oidc({ name: `acme-${index}`, issuer, clientId, clientSecret }),
    );
    const { url } = await shop(providers);
    const browser = person();
    const { at } = await browser.open(`${url}/account/providers/acme-0`, isCallback);

    expect((await browser.open(at.replace("acme-0", "acme-1"))).at).toBe(url + invalid);
    expect(two.requests).toEqual([]);
  });

  it("[auth:AU-220] works in two tabs at the same time", async () => {
    const { url } = await world();
    const browser = person();
    const [one, two] = [
      await browser.open(`${url}/account/providers/acme?return_to=/orders`, isCallback),
      await browser.open(`${url}/account/providers/acme?return_to=/settings`, isCallback),
    ];

    expect((await browser.open(two.at)).at).toBe(`${url}/settings`);
    expect((await browser.open(one.at)).at).toBe(`${url}/orders`);
  });

  it.each([
    "//evil.example",
    "/\\evil.example",
    "https://evil.example",
    "evil",
    "",
    "/\tx",
    "/ö",
    "/%00\u0000",
    "javascript:alert(1)",
    `/${"x".repeat(3_000)}`,
  ])("has a local path to return to, so %j is rejected", async (path) => {
    const { url, hostile } = await world();

    const response = await person().send(`${url}/account/providers/acme?return_to=${encodeURIComponent(path)}`);

    expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([400, "return_to_invalid"]);
    expect(hostile.requests).toEqual([]);
  });
});

describe("an outage of a provider", () => {
  const slow: Answers["endpoints"][string] = never;
  const dead: Answers["endpoints"][string] = (request) => void request.socket.destroy();
  const broken: Answers["endpoints"][string] = (_, response) => void response.writeHead(502).end();
  const huge: Answers["endpoints"][string] = (_, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    const more = (): void => {
      while (!response.destroyed && response.write(" ".repeat(65_536)));
    };
    response.on("drain", more);
    more();
  };
  const kinds = { slow, dead, broken, huge };
  const cases = Object.entries(kinds).flatMap(([kind, handler]) =>
    ["/token", "/jwks", "/userinfo"].map((path) => ({ kind, path, handler })),
  );

  it.each(cases)("[auth:AU-221] returns to the sign-in page if $path is $kind", async ({ path, handler }) => {
    const { attempt, hostile } = await world(handler === slow ? { timeoutSeconds: 1 } : {});
    hostile.answers.claims["email"] = undefined;
    hostile.answers.endpoints[path] = handler;

    expect(await attempt()).toBe(unavailable);
  });

  it.each(Object.entries(kinds))(
    "[auth:AU-222] responds with 503 if the metadata are %s, and recovers",
    async (_, handler) => {
      const clock = manualClock();
      const { url, attempt, hostile } = await world(handler === slow ? { timeoutSeconds: 1 } : {}, {}, { clock });
      const metadata = "/.well-known/openid-configuration";
      hostile.answers.endpoints[metadata] = handler;
      const start = async (): Promise<unknown> => {
        const response = await person().send(`${url}/account/providers/acme`);
        return [
          response.status,
          response.headers.get("retry-after"),
          ((await response.json()) as { code: string }).code,
        ];
      };

      const several = await Promise.all([start(), start(), start()]);
      const soon = await start();
      delete hostile.answers.endpoints[metadata];
      clock.advance(5_000);

      expect([...several, soon]).toEqual(Array.from({ length: 4 }, () => [503, "5", "provider_unavailable"]));
      expect(hostile.requests).toEqual([metadata]);
      expect(await attempt()).toBe("/orders");
    },
  );

  it.each([
    ["another issuer", { issuer: "https://evil.example" }],
    ["no key set", { jwks_uri: undefined }],
    ["no token endpoint", { token_endpoint: undefined }],
  ])("includes metadata with %s", async (_, changed) => {
    const { url, hostile } = await world();
    Object.assign(hostile.answers.metadata, changed);

    expect((await person().send(`${url}/account/providers/acme`)).status).toBe(503);
  });
});

describe("what a provider publishes", () => {
  it("[auth:AU-223] is fetched once an hour, and the last metadata stay in use during an outage", async () => {
    const clock = manualClock();
    const { attempt, hostile } = await world({}, {}, { clock });
    const metadata = "/.well-known/openid-configuration";
    const count = (): number => hostile.requests.filter((path) => path === metadata).length;

    await attempt();
    await attempt();
    expect(count()).toBe(1);
    clock.advance(3_600_000);
    hostile.answers.endpoints[metadata] = (request) => void request.socket.destroy();

    expect(await attempt()).toBe("/orders");
    expect(count()).toBe(2);
  });

  it("[auth:AU-224] may rotate keys: an unknown key is fetched, but not more than once a minute", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    onTestFinished(() => void vi.useRealTimers());
    const { attempt, hostile } = await world();
    const next = await newSigner("second");
    const count = (): number => hostile.requests.filter((path) => path === "/jwks").length;
    await attempt();
    hostile.answers.keys = [next.jwk];
    hostile.answers.idToken = (claims) => next.sign(claims);

    const early = [await attempt(), await attempt(), count()];
    vi.setSystemTime(Date.now() + 60_000);

    expect(early).toEqual([failed, failed, 1]);
    expect([await attempt(), count()]).toEqual(["/orders", 2]);
  });
});
