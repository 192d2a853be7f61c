import { createHmac, hkdfSync } from "node:crypto";
import { memoryStores } from "portico";
import { type AccountEventHook, useAuth } from "portico/auth";
import { logCatcher } from "portico/testing";
import { expect, it, vi } from "vitest";
import { cookieHeader } from "../../sign-in.ts";
import { accountHarness, ann, owned, password, secret, tokenOf } from "./account-harness.ts";
import { accountsIn, EVERYWHERE } from "./account-places.ts";

const later = (check: () => void): Promise<void> => vi.waitFor(check, { timeout: 60_000, interval: 5 });

accountsIn(EVERYWHERE, (accounts) => {
  it("[REQ-36] registers a user who can sign in immediately, with a session or tokens", async () => {
    const { post, client, events, session } = accounts();

    const registered = await post("/register", ann);
    const bySession = await client.get("/account/me", { headers: await session() });
    const { access_token } = (await post("/token", { identifier: "ann", password })).json() as { access_token: string };
    const byToken = await client.get("/account/me", { headers: { authorization: `Bearer ${access_token}` } });

    expect(registered.status).toBe(202);
    const account = { id: expect.any(String), email: ann.email, username: "ann", email_verified: false };
    expect([bySession.json(), byToken.json()]).toEqual([account, account]);
    expect(events.map(({ kind }) => kind)).toEqual(["registered", "login_succeeded", "login_succeeded"]);
  });

  it("[REQ-36] rejects a sign-in before the address is verified, if verifyEmail is set", async () => {
    const { post, mails } = accounts({ account: { verifyEmail: true } });
    await post("/register", ann);
    await later(() => expect(mails).toHaveLength(1));

    const before = await post("/login", { identifier: ann.email, password });
    const wrong = await post("/login", { identifier: ann.email, password: "something else" });
    // The right password sends the link again.
    await later(() => expect(mails).toHaveLength(2));
    const verified = await post("/verify", { token: tokenOf(mails, "verify"), password });
    const after = await post("/login", { identifier: ann.email, password });

    expect([before.status, verified.status, after.status]).toEqual([401, 204, 200]);
    expect(before.json()).toEqual(wrong.json());
    expect(before.json()).toMatchObject({
      detail: "Incorrect username or password, or the email address is not verified yet",
    });
    expect(after.json()).toMatchObject({ email_verified: true });
  });

  it("[REQ-03] [auth:AU-098] [auth:AU-185] rejects every failed sign-in with the same response", async () => {
    const { post, users } = accounts();
    await post("/register", ann);
    await post("/register", { ...ann, email: "dis@example.org", username: "dis" });
    const disabled = await users.objects.get({ email: "dis@example.org" });
    if (disabled !== null) await users.objects.disable(disabled);

    const answers = [
      await post("/login", { identifier: "nobody@example.org", password }, "203.0.113.10"),
      await post("/login", { identifier: ann.email, password: "wrong password" }, "203.0.113.11"),
      await post("/login", { identifier: "dis@example.org", password }, "203.0.113.12"),
    ].map((answer) => {
      const { date: _date, ...headers } = answer.headers;
      return {
        status: answer.status,
        body: answer.json(),
        headers,
        order: Object.keys(answer.headers),
        length: answer.text().length,
      };
    });

    expect(answers[0]).toMatchObject({ status: 401, body: { code: "invalid_credentials" } });
    expect(answers[0]?.headers["cache-control"]).toBe("no-store");
    expect(answers[1]).toEqual(answers[0]);
    expect(answers[2]).toEqual(answers[0]);
  });

  it("[REQ-35] [auth:AU-194] takes passwords of 8 to 1,024 bytes, at the sign-up, the change and the reset", async () => {
    const { post, session, mails } = accounts();
    const register = (word: string) =>
      post("/register", { email: `${word.length}@example.org`, username: `u${word.length}`, password: word });

    expect((await register("x".repeat(7))).json()).toMatchObject({ status: 422, code: "password_too_short" });
    expect((await register("x".repeat(1_025))).json()).toMatchObject({ status: 422, code: "password_too_long" });
    expect([(await register("x".repeat(8))).status, (await register("x".repeat(1_024))).status]).toEqual([202, 202]);
    await post("/register", ann);
    const headers = await session();
    const change = await post(
      "/password",
      { current_password: password, new_password: "1234567" },
      "203.0.113.2",
      headers,
    );
    expect(change.json()).toMatchObject({ status: 422, code: "password_too_short" });
    await post("/password/reset", { email: ann.email });
    await later(() => expect(mails.some(({ kind }) => kind === "reset")).toBe(true));
    const token = tokenOf(mails, "reset");
    expect((await post("/password/reset/confirm", { token, password: "1234567" })).status).toBe(422);
    expect((await post("/password/reset/confirm", { token, password: "8 bytes!" })).status).toBe(204);
  });

  it("[auth:AU-117] ignores unknown members of a registration", async () => {
    const { post, users } = accounts();

    const body = `{"email":"ann@example.org","username":"ann","password":"${password}","is_admin":true,"permissions":["all"],"id":"1","isVerified":true,"email_verified":true,"__proto__":{"isAdmin":true}}`;
    await post("/register", body, "203.0.113.3", { "content-type": "application/json" });

    const user = await users.objects.get({ email: ann.email });
    expect(user).toMatchObject({ isVerified: false });
    expect(user?.identity).not.toBe("1");
    expect(user?.hasPermission("all")).toBe(false);
    expect(({} as { isAdmin?: boolean }).isAdmin).toBeUndefined();
  });

  it("[auth:AU-118] returns the same response to a second registration with an address, and notifies its owner", async () => {
    const { post, mails, users } = accounts();

    const first = await post("/register", ann);
    const second = await post("/register", { ...ann, email: "ANN@example.org", username: "other" });
    const parallel = await Promise.all(
      [1, 2, 3, 4].map((n) =>
        post("/register", { email: "b@example.org", username: `b${n}`, password }, "203.0.113.4"),
      ),
    );

    expect([second.status, second.json()]).toEqual([first.status, first.json()]);
    expect(new Set(parallel.map(({ status }) => status))).toEqual(new Set([202]));
    await later(() => expect(mails.filter(({ kind }) => kind === "already_registered").length).toBe(4));
    expect(mails[0]).toEqual({ to: ann.email, kind: "already_registered", url: null });
    expect(await users.objects.get({ username: "other" })).toBeNull();
  });

  it("[auth:AU-121] refuses a sign-in that a page of another origin sends", async () => {
    const { post } = accounts();
    await post("/register", ann);

    const answer = await post("/login", { identifier: "ann", password }, "203.0.113.5", {
      origin: "https://evil.example",
    });

    expect([answer.status, answer.cookies]).toEqual([403, []]);
  });

  it("[auth:AU-094] refuses a refresh after the password has changed, and after the user was disabled", async () => {
    const { post, users, session } = accounts();
    await post("/register", ann);
    const pair = async (): Promise<string> =>
      ((await post("/token", { identifier: "ann", password })).json() as { refresh_token: string }).refresh_token;
    const [first, second] = [await pair(), await pair()];

    expect((await post("/refresh", { refresh_token: first })).status).toBe(200);
    const user = await users.objects.get({ email: ann.email });
    if (user !== null) await users.objects.disable(user);
    expect((await post("/refresh", { refresh_token: second })).status).toBe(401);
    if (user !== null) await users.objects.enable(user);
    expect((await post("/refresh", { refresh_token: second })).status).toBe(401);
    const third = await pair();
    const headers = await session();
    await post("/password", { current_password: password, new_password: "another password" }, "203.0.113.6", headers);
    expect((await post("/refresh", { refresh_token: third })).status).toBe(401);
  });

  it("[auth:AU-040] [auth:AU-081] revokes all other sessions, refresh tokens and access tokens when a password changes", async () => {
    const { post, client, session, mails } = accounts(owned);
    await post("/register", ann);
    const [here, there] = [await session(), await session()];
    const { access_token } = (await post("/token", { identifier: "ann", password })).json() as { access_token: string };
    const me = async (headers: Readonly<Record<string, string>>): Promise<number> =>
      (await client.get("/account/me", { headers })).status;
    const bearer = { authorization: `Bearer ${access_token}` };
    const { key } = (await post("/keys", {}, undefined, here)).json() as { key: string };
    expect([await me(here), await me(there), await me(bearer)]).toEqual([200, 200, 200]);

    const changed = await post(
      "/password",
      { current_password: password, new_password: "another password" },
      "203.0.113.7",
      here,
    );

    const renewed = cookieHeader(changed);
    expect(changed.status).toBe(204);
    expect([await me(here), await me(there), await me(bearer), await me(renewed)]).toEqual([401, 401, 401, 200]);
    // Programs go on: it is the account-takeover path, a reset, that ends their keys too.
    expect(await me({ "x-api-key": key })).toBe(200);
    await later(() => expect(mails.at(-1)).toEqual({ to: ann.email, kind: "password_changed", url: null }));
  });

  it("rejects a password change with a wrong password, and counts it as a sign-in attempt", async () => {
    const { post, session } = accounts();
    await post("/register", ann);
    const headers = await session();
    const change = () =>
      post(
        "/password",
        { current_password: "wrong password", new_password: "another password" },
        "203.0.113.8",
        headers,
      );

    const statuses = [];
    for (let n = 0; n < 6; n++) statuses.push((await change()).status);

    expect(statuses).toEqual([401, 401, 401, 401, 401, 429]);
  });

  it("signs out one device, and all devices", async () => {
    const { post, client, session } = accounts();
    await post("/register", ann);
    const me = async (headers: Readonly<Record<string, string>>): Promise<number> =>
      (await client.get("/account/me", { headers })).status;
    const [one, two, three] = [await session(), await session(), await session()];
    const pair = (await post("/token", { identifier: "ann", password })).json() as Record<string, string>;
    const bearer = { authorization: `Bearer ${pair["access_token"]}` };

    expect((await post("/logout", {}, undefined, one)).status).toBe(204);
    expect([await me(one), await me(two), await me(bearer)]).toEqual([401, 200, 200]);
    expect((await post("/logout/everywhere", {}, undefined, two)).status).toBe(204);
    expect([await me(two), await me(three), await me(bearer)]).toEqual([401, 401, 401]);
    expect((await post("/refresh", { refresh_token: pair["refresh_token"] })).status).toBe(401);
  });

  it("signs out without a body, and rejects a form", async () => {
    const { post, client, session } = accounts();
    await post("/register", ann);
    const [one, two, three] = [await session(), await session(), await session()];
    const me = async (headers: Readonly<Record<string, string>>): Promise<number> =>
      (await client.get("/account/me", { headers })).status;

    const form = { ...one, "content-type": "application/x-www-form-urlencoded" };
    expect((await client.post("/account/logout", { headers: form, body: "" })).status).toBe(415);
    expect(await me(one)).toBe(200);
    expect((await client.post("/account/logout", { headers: one })).status).toBe(204);
    const json = { ...two, "content-type": "application/json" };
    expect((await client.post("/account/logout", { headers: json, body: "" })).status).toBe(204);
    expect([await me(one), await me(two), await me(three)]).toEqual([401, 401, 200]);
    expect((await client.post("/account/logout/everywhere", { headers: three })).status).toBe(204);
    expect(await me(three)).toBe(401);
    expect((await client.post("/account/login")).status).toBe(415);
  });

  it("does not sign a user out for a page of another origin that sends no body", async () => {
    const { post, client, session } = accounts();
    await post("/register", ann);
    const headers = await session();

    const answer = await client.post("/account/logout", { headers: { ...headers, "sec-fetch-site": "cross-site" } });

    expect(answer.status).toBe(403);
    expect((await client.get("/account/me", { headers })).status).toBe(200);
  });

  it("lists the signed-in devices, and signs one of them out", async () => {
    const { post, client, session } = accounts();
    await post("/register", ann);
    const [phone, laptop] = [await session(), await session()];

    const devices = (await client.get("/account/sessions", { headers: laptop })).json() as {
      id: string;
      current: boolean;
    }[];
    const other = devices.find(({ current }) => !current);
    const revoked = await client.delete(`/account/sessions/${other?.id}`, { headers: laptop });
    const again = await client.delete(`/account/sessions/${other?.id}`, { headers: laptop });

    expect([devices.length, revoked.status, again.status]).toEqual([2, 204, 404]);
    expect((await client.get("/account/me", { headers: phone })).status).toBe(401);
  });
});

it.each([
  ["a number", { identifier: "ann", password: 12345678 }],
  ["a list", { identifier: "ann", password: [password] }],
  ["an object", { identifier: "ann", password: { $ne: null } }],
  ["null", { identifier: "ann", password: null }],
  ["missing", { identifier: "ann" }],
])("[auth:AU-104] returns the same 400 to a password that is %s for every user", async (_what, body) => {
  const { post } = accountHarness();
  await post("/register", ann);

  const known = await post("/login", body);
  const unknown = await post("/login", { ...body, identifier: "nobody" });

  expect([known.status, unknown.status]).toEqual([400, 400]);
  expect((known.json() as { detail: string }).detail).toBe((unknown.json() as { detail: string }).detail);
});

it.each([{ identifier: { $ne: null }, password }, { identifier: ["a", "b"], password }, [], "text", null])(
  "[auth:AU-105] answers 400 to %j",
  async (body) => {
    const { client } = accountHarness();

    const answer = await client.post("/account/login", {
      body: JSON.stringify(body),
      headers: { "content-type": "application/json" },
    });

    expect(answer.status).toBe(400);
  },
);

it("[auth:AU-102] rejects a password of 1 MB by the body size, and one of 1,025 bytes by its length", async () => {
  const { post } = accountHarness();

  const huge = await post("/login", { identifier: "ann", password: "x".repeat(1_048_576) });
  const long = await post("/login", { identifier: "ann", password: "x".repeat(1_025) });

  expect([huge.status, long.status]).toEqual([413, 422]);
});

it.each(["/login", "/logout", "/refresh", "/token", "/register"])(
  "[auth:AU-165] answers 405 to GET %s",
  async (path) => {
    expect((await accountHarness().client.get(`/account${path}`)).status).toBe(405);
  },
);

it.each([undefined, () => {}, () => Promise.reject(new Error("no disk"))])(
  "writes account events to the log, whatever onEvent does with them: %s",
  async (onEvent) => {
    const log = logCatcher();
    const { post } = accountHarness({ app: { logger: log }, account: { onEvent: onEvent as AccountEventHook } });

    await post("/register", ann);
    await post("/login", { identifier: "ann", password: "not the password" });

    await later(() =>
      expect(log.lines.filter(({ account }) => account !== undefined)).toMatchObject([
        { level: "info", msg: "account: registered", account: { kind: "registered", user: expect.any(String) } },
        { level: "info", msg: "account: login_failed", account: { kind: "login_failed", user: null } },
      ]),
    );
  },
);

it("leaves out the routes listed in except, and describes the others", async () => {
  const { app, client } = accountHarness({ account: { except: ["register", "reset"] }, app: { openapi: true } });
  const { paths } = app.openapi();

  expect((await client.post("/account/register", { body: ann })).status).toBe(404);
  expect(Object.keys(paths)).not.toContain("/account/register");
  expect(paths["/account/login"]?.post).toMatchObject({ tags: ["Account"], requestBody: expect.anything() });
});

it("[ATH-19] sets up sessions, tokens, keys and the routes with one call, with a separate key for each purpose", async () => {
  const { app, post, client, session } = accountHarness(owned);
  app.get("/orders", { auth: useAuth() }, ({ request }) => ({ by: request.scope.auth }));
  await post("/register", ann);
  const cookie = await session();
  const pair = (await post("/token", { identifier: "ann", password })).json() as Record<string, string>;
  const next = (await post("/refresh", { refresh_token: pair["refresh_token"] })).json() as Record<string, string>;
  const { key } = (await post("/keys", {}, undefined, cookie)).json() as { key: string };
  const orders = async (headers: Readonly<Record<string, string>>): Promise<unknown> => {
    const answer = await client.get("/orders", { headers });
    return answer.status === 200 ? (answer.json() as { by: string }).by : answer.status;
  };

  expect([
    await orders(cookie),
    await orders({ authorization: `Bearer ${next["access_token"]}` }),
    await orders({ "x-api-key": key }),
  ]).toEqual(["session", "jwt", "apikey"]);

  // Tokens and cookies are signed with different derived keys, and neither with the secret itself.
  const tokenKey = new Uint8Array(hkdfSync("sha256", secret, "", "portico access token", 32));
  const [head = "", body = "", signature = ""] = (next["access_token"] ?? "").split(".");
  const signed = (by: string | Uint8Array, text: string) => createHmac("sha256", by).update(text).digest("base64url");
  expect(signed(tokenKey, `${head}.${body}`)).toBe(signature);
  expect(await orders({ authorization: `Bearer ${head}.${body}.${signed(secret, `${head}.${body}`)}` })).toBe(401);
  const [name = "", value = ""] = cookie["cookie"]?.split("=") ?? [];
  const [id = ""] = value.split(".");
  expect(value).toBe(`${id}.${value.slice(id.length + 1)}`);
  for (const by of [tokenKey, secret]) expect(await orders({ cookie: `${name}=${id}.${signed(by, id)}` })).toBe(401);
  expect(await orders({ cookie: `${name}=${value}` })).toBe("session");
});

it("changes a password even if the revocation cannot be published", async () => {
  const stores = memoryStores();
  stores.bus.publish = () => Promise.reject(new Error("the bus is down"));
  const { post, client, session } = accountHarness({ stores });
  await post("/register", ann);
  const headers = await session();

  const changed = await post(
    "/password",
    { current_password: password, new_password: "another password" },
    undefined,
    headers,
  );

  const renewed = cookieHeader(changed);
  expect(changed.status).toBe(204);
  expect((await client.get("/account/me", { headers })).status).toBe(401);
  expect((await client.get("/account/me", { headers: renewed })).status).toBe(200);
});
