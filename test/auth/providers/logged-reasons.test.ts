import { randomUUID } from "node:crypto";
import { memoryStores } from "portico";
import { oidc, UserExists } from "portico/auth";
import { type CaughtLine, logCatcher, manualClock } from "portico/testing";
import { describe, expect, it } from "vitest";
import { memoryUsers } from "../accounts/memory-users.ts";
import { RecordingStore } from "../sessions/recording-store.ts";
import { type Answers, clientId, clientSecret, hostileProvider, newSigner } from "./hostile-provider.ts";
import { type Person, person } from "./person.ts";
import { shop } from "./provider-harness.ts";

type Claims = Record<string, unknown>;
const METADATA = "/.well-known/openid-configuration";

async function world(account: Parameters<typeof shop>[1] = {}) {
  const hostile = await hostileProvider();
  const [log, clock] = [logCatcher(), manualClock(Date.now())];
  const durable = new RecordingStore({ clock });
  const provider = oidc({ name: "acme", issuer: hostile.issuer, clientId, clientSecret });
  const stores = { ...memoryStores(), durable };
  const opened = await shop([provider], account, { logger: log, clock, stores });
  const warnings = (): readonly CaughtLine[] => log.lines.filter(({ level }) => level === "warn");
  const claims = (changed: Claims = {}): Claims => ({
    iss: hostile.issuer,
    aud: clientId,
    iat: Math.floor(clock.now() / 1000),
    exp: Math.floor(clock.now() / 1000) + 3_600,
    jti: randomUUID(),
    sub: "ann",
    events: { "http://schemas.openid.net/event/backchannel-logout": {} },
    ...changed,
  });
  return {
    ...opened,
    hostile,
    clock,
    durable,
    warnings,
    claims,
    attempt: async (browser: Person = person()) =>
      (await browser.open(`${opened.url}/account/providers/acme`)).at.slice(opened.url.length),
    logout: (token: string) => {
      const body = new URLSearchParams({ logout_token: token });
      return fetch(`${opened.url}/account/providers/acme/backchannel-logout`, { method: "POST", body });
    },
    isSignedIn: async (browser: Person) => (await browser.send(`${opened.url}/account/me`)).status === 200,
  };
}

describe("the reason for a rejected logout token is logged:", () => {
  it.each<[string, Claims]>([
    ["a logout token must not have a nonce", { nonce: "n" }],
    ["the token is not a logout token", { events: undefined }],
    ["the token is not a logout token", { events: { "http://schemas.openid.net/event/backchannel-logout": null } }],
    ["the token has no jti", { jti: undefined }],
    ["the token has no jti", { jti: "" }],
    ["the token has no sub and no sid", { sub: undefined }],
    ["the token has no sub and no sid", { sub: "", sid: 4711 }],
  ])("%s (%#)", async (reason, changed) => {
    const { hostile, claims, logout, warnings } = await world();
    const refused = await logout(await hostile.signer.sign(claims(changed)));

    expect(await refused.json()).toMatchObject({
      status: 400,
      code: "logout_token_invalid",
      detail: "The logout token is not valid",
    });
    expect(warnings()).toMatchObject([{ msg: "a logout token was rejected", reason }]);
  });

  it("no key of the provider matches", async () => {
    const { claims, logout, warnings } = await world();
    const other = await newSigner("second");

    expect((await logout(await other.sign(claims()))).status).toBe(400);
    expect(warnings()).toMatchObject([
      { msg: "a logout token was rejected", reason: "no key of the provider matches" },
    ]);
  });
});

describe("a logout token", () => {
  it("is accepted for ten minutes and a difference of half a minute between the clocks", async () => {
    const { hostile, clock, claims, logout } = await world();
    const [early, late, future] = [claims(), claims(), claims({ iat: Math.floor(clock.now() / 1000) + 29 })];
    const send = async (given: Claims): Promise<number> => (await logout(await hostile.signer.sign(given))).status;

    expect(await send(future)).toBe(200);
    clock.advance(629_000);
    expect(await send(early)).toBe(200);
    clock.advance(2_000);
    expect(await send(late)).toBe(400);
  });

  it("can be sent again if the sessions could not be ended", async () => {
    const { hostile, durable, claims, logout, attempt, isSignedIn, events } = await world();
    const browser = person();
    await attempt(browser);
    const token = await hostile.signer.sign(claims());
    durable.before = (operation, key) => {
      if (operation === "delete" && key.startsWith("session:")) throw new Error("the store is down");
    };
    expect((await logout(token)).status).toBe(503);
    expect(await isSignedIn(browser)).toBe(true);

    durable.before = () => {};
    expect([(await logout(token)).status, (await logout(token)).status]).toEqual([200, 400]);
    expect(await isSignedIn(browser)).toBe(false);
    expect(events.filter(({ kind }) => kind === "provider_logged_out")).toMatchObject([{ outcome: "success" }]);
  });

  it("is reported once for a user with several sessions, and its keys are fetched once", async () => {
    const { hostile, claims, logout, attempt, events } = await world();
    await attempt();
    await attempt();
    hostile.requests.length = 0;
    const response = await logout(await hostile.signer.sign(claims()));

    expect([response.status, await response.text()]).toEqual([200, ""]);
    expect(events.filter(({ kind }) => kind === "provider_logged_out")).toHaveLength(1);
    await logout(await hostile.signer.sign(claims()));
    expect(hostile.requests).toEqual(["/jwks"]);
  });
});

it("the sessions of an account are recorded until they end", async () => {
  const { hostile, durable, attempt, clock } = await world();
  hostile.answers.claims["sid"] = "one";
  await attempt();
  const kept = async (): Promise<readonly boolean[]> => {
    const keys = [...durable.entries.keys()].filter((key) => /^provider-(?:sid|sessions):/.test(key));
    return Promise.all(keys.map(async (key) => (await durable.get(key)) !== null));
  };

  clock.advance(86_400_000 - 1);
  expect(await kept()).toEqual([true, true]);
  clock.advance(1);
  expect(await kept()).toEqual([false, false]);
});

describe("a provider that fails", () => {
  const dead: Answers["endpoints"][string] = (request) => void request.socket.destroy();
  const broken: Answers["endpoints"][string] = (_, response) => void response.writeHead(500).end();
  const huge: Answers["endpoints"][string] = (_, response) =>
    void response.writeHead(200, { "content-type": "application/json" }).end(" ".repeat(1_048_577));

  it.each([
    ["fetch failed", dead],
    ["the response has status 500", broken],
    ["the response is larger than 1048576 bytes", huge],
  ])("is logged with its name and the reasons: %s", async (reason, handler) => {
    const { hostile, attempt, warnings } = await world();
    hostile.answers.endpoints["/token"] = handler;

    expect(await attempt()).toBe("/sign-in?error=provider_unavailable");
    expect(warnings()).toMatchObject([{ msg: "the identity provider failed", provider: "acme" }]);
    expect(warnings()[0]?.["reasons"]).toContain(reason);
  });

  it("is logged with the code of the error", async () => {
    const { hostile, attempt, warnings } = await world();
    hostile.answers.endpoints["/token"] = dead;
    await attempt();

    expect(warnings()[0]?.["reasons"]).toContainEqual(expect.stringMatching(/ \([A-Z_]+\)$/));
  });

  it("is 503 when a sign-in begins, and says when to try again", async () => {
    const { url, hostile } = await world();
    hostile.answers.endpoints[METADATA] = dead;
    const response = await fetch(`${url}/account/providers/acme`, { redirect: "manual" });

    expect([response.status, response.headers.get("retry-after")]).toEqual([503, "5"]);
    expect(await response.json()).toMatchObject({
      code: "provider_unavailable",
      detail: "The identity provider is unavailable. Try again later.",
    });
  });

  it("with metadata that lack a member is logged with its name", async () => {
    const { hostile, attempt, warnings } = await world();
    hostile.answers.metadata["token_endpoint"] = undefined;
    await attempt();

    expect(warnings()[0]?.["reasons"]).toEqual(["the metadata of the provider have no token_endpoint"]);
  });

  it("without a subject is logged as such", async () => {
    const { hostile, attempt, warnings } = await world();
    hostile.answers.claims["sub"] = "";
    await attempt();

    expect(warnings()[0]?.["reasons"]).toEqual(["the response has no id_token with a subject"]);
  });

  it("is used with the last metadata, which is logged while it fails", async () => {
    const { hostile, attempt, clock, warnings } = await world();
    const fetches = (): number => hostile.requests.filter((path) => path === METADATA).length;
    await attempt();
    clock.advance(3_599_999);
    await attempt();
    expect([fetches(), warnings()]).toEqual([1, []]);

    hostile.answers.endpoints[METADATA] = dead;
    clock.advance(1);
    expect(await attempt()).toBe("/");
    expect(warnings()).toMatchObject([
      { msg: "failed to refresh the metadata of an identity provider; the last metadata is used" },
    ]);
    clock.advance(4_999);
    await attempt();
    expect([fetches(), warnings().length]).toEqual([2, 1]);

    delete hostile.answers.endpoints[METADATA];
    clock.advance(1);
    await attempt();
    expect([fetches(), warnings().length]).toEqual([3, 1]);
  });
});

it("the only way to sign in stays linked", async () => {
  const { url, attempt } = await world();
  const browser = person();
  await attempt(browser);
  const response = await browser.send(`${url}/account/providers/acme`, { method: "DELETE" });

  expect(await response.json()).toMatchObject({
    status: 409,
    code: "last_sign_in_method",
    detail: "This is the only way to sign in. Set a password or link another provider first.",
  });
});

it("a user who registers at the same moment has to link the provider, and another failure is an error", async () => {
  const users = memoryUsers();
  let failure: Error = new UserExists("email");
  const objects = { ...users.objects, createUser: () => Promise.reject(failure) };
  const { url, attempt } = await world({ userModel: { loadUser: (id) => users.loadUser(id), objects } });

  expect(await attempt()).toBe("/sign-in?error=provider_link_required");
  failure = new Error("the database is down");
  const { response } = await person().open(`${url}/account/providers/acme`);
  expect(response?.status).toBe(500);
});
