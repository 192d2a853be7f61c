import type { AccountEvent } from "portico/auth";
import type { SQLUserManager } from "portico/sql";
import { logCatcher, manualClock } from "portico/testing";
import { expect, it, vi } from "vitest";
import { overBoth } from "../../../matrix.ts";
import { cookieHeader } from "../../../sign-in.ts";
import { type AccountHarness, accountHarness, ann, owned, password, tokenOf } from "../account-harness.ts";
import { accountsIn, EVERYWHERE, SERVERS } from "../account-places.ts";

const later = (check: () => void): Promise<void> => vi.waitFor(check, { timeout: 60_000, interval: 5 });
const newAddress = "ann@new.example";

accountsIn(EVERYWHERE, (accounts) => {
  async function linked(harness: AccountHarness, headers: Readonly<Record<string, string>>): Promise<string> {
    const answer = await harness.post("/email", { email: newAddress }, "203.0.113.40", headers);
    expect(answer.status).toBe(202);
    await later(() => expect(harness.mails.some(({ kind }) => kind === "change_email")).toBe(true));
    return tokenOf(harness.mails, "change_email");
  }

  it("[auth:AU-150] changes an address once the new one is verified, notifies the old one, and invalidates its reset links", async () => {
    const harness = accounts(owned);
    const { post, mails, session, users } = harness;
    await post("/register", ann);
    const headers = await session();
    await post("/password/reset", { email: ann.email });
    await later(() => expect(mails.at(-1)?.kind).toBe("reset"));
    const resetToken = tokenOf(mails, "reset");

    const token = await linked(harness, headers);
    const link = mails.at(-1);
    const before = await users.objects.get({ email: ann.email });
    const confirmed = await post("/email/confirm", { token }, undefined, headers);
    const again = await post("/email/confirm", { token }, undefined, headers);

    expect(link).toMatchObject({ to: newAddress, kind: "change_email" });
    expect(link?.url).toMatch(/^https:\/\/shop\.example\/change-email\?token=[\w-]{43}$/);
    expect(before?.email).toBe(ann.email);
    expect([confirmed.status, again.status]).toEqual([204, 400]);
    await later(() => expect(mails.at(-1)).toEqual({ to: ann.email, kind: "email_changed", url: null }));
    expect(await users.objects.get({ email: newAddress })).toMatchObject({ email: newAddress, isVerified: true });
    expect(await users.objects.get({ email: ann.email })).toBeNull();
    const reset = await post("/password/reset/confirm", { token: resetToken, password: "another password" });
    expect(reset.json()).toMatchObject({ status: 400, code: "link_invalid" });
    expect((await post("/login", { identifier: newAddress, password })).status).toBe(200);
  });

  it("[auth:AU-150] requires a recent sign-in to change an address", async () => {
    const clock = manualClock();
    const { post, session } = accounts({ app: { clock } });
    await post("/register", ann);
    const headers = await session();

    clock.advance(601_000);

    const change = (body: object) => post("/email", { email: newAddress, ...body }, "203.0.113.41", headers);
    expect((await change({})).json()).toMatchObject({ status: 403, code: "sign_in_again" });
    expect((await change({ password: "wrong password" })).status).toBe(401);
    expect((await change({ password })).status).toBe(202);
    expect((await post("/email", { email: newAddress })).status).toBe(401);
  });

  it("does not give a user an address that another user has, with the same response, and notifies its owner", async () => {
    const { post, mails, session, users } = accounts();
    await post("/register", ann);
    await post("/register", { email: newAddress, username: "bob", password });
    const headers = await session();

    const taken = await post("/email", { email: newAddress }, "203.0.113.42", headers);

    await later(() => expect(mails.at(-1)).toEqual({ to: newAddress, kind: "already_registered", url: null }));
    expect([taken.status, mails.some(({ kind }) => kind === "change_email")]).toEqual([202, false]);
    expect(await users.objects.get({ email: newAddress })).toMatchObject({ username: "bob" });
  });

  it("invalidates an email change link once the address is taken or the password has changed", async () => {
    const harness = accounts(owned);
    const { post, session, mails, users } = harness;
    await post("/register", ann);
    const headers = await session();
    const first = await linked(harness, headers);
    await post("/register", { email: newAddress, username: "bob", password });
    const taken = await post("/email/confirm", { token: first }, undefined, headers);
    mails.length = 0;

    await post("/email", { email: "thief@example.org" }, "203.0.113.43", headers);
    await later(() => expect(mails.some(({ kind }) => kind === "change_email")).toBe(true));
    const words = { current_password: password, new_password: "another password" };
    const changed = await post("/password", words, "203.0.113.43", headers);
    const renewed = cookieHeader(changed);
    const late = await post("/email/confirm", { token: tokenOf(mails, "change_email") }, undefined, renewed);

    expect([taken.json(), late.json()]).toEqual([
      expect.objectContaining({ status: 400, code: "link_invalid" }),
      expect.objectContaining({ status: 400, code: "link_invalid" }),
    ]);
    expect((await users.objects.get({ username: "ann" }))?.email).toBe(ann.email);
  });

  it("invalidates a session that started after a password change with the old password verified before it", async () => {
    const first = accounts();
    await first.post("/register", ann);
    const { objects } = first.users;
    const { promise: verified, resolve: verify } = Promise.withResolvers<void>();
    const { promise: changed, resolve } = Promise.withResolvers<void>();
    // The sign-in stands still between the password and the session, as a slow process would.
    const authenticate = async (name: string, word: string) => {
      const user = await objects.authenticate(name, word);
      verify();
      await changed;
      return user;
    };
    const slow = accounts({ users: first.users, objects: { authenticate } });

    const login = slow.post("/login", { identifier: "ann", password }, "203.0.113.44");
    await verified;
    const user = await objects.get({ username: "ann" });
    if (user !== null) await objects.setPassword(user, "another password");
    resolve();
    const { cookies } = await login;

    const headers = cookieHeader({ cookies });
    expect(headers.cookie).not.toBe("");
    expect((await slow.client.get("/account/me", { headers })).status).toBe(401);
  });
});

overBoth(
  "[auth:AU-095] takes a refresh token from the body alone, and nothing at all from a page of a foreign origin",
  () => accountHarness({ app: { publicUrl: "https://shop.example" } }).app,
  async (client) => {
    const post = (path: string, body: object, headers: Readonly<Record<string, string>> = {}) =>
      client.post(`/account${path}`, { body, headers });
    await post("/register", ann);
    const { refresh_token } = (await post("/token", { identifier: "ann", password })).json() as Record<string, string>;
    const cookie = `refresh_token=${refresh_token}; __Host-refresh_token=${refresh_token}`;

    const own = await post("/refresh", {}, { cookie, origin: "https://shop.example" });
    const foreign = await post("/refresh", {}, { cookie, origin: "https://evil.example" });
    const site = await post("/refresh", { refresh_token }, { cookie, "sec-fetch-site": "cross-site" });
    const mail = await post("/password/reset", { email: ann.email }, { origin: "https://evil.example" });

    expect([own.status, foreign.status, site.status, mail.status]).toEqual([400, 403, 403, 403]);
    expect(foreign.json()).toMatchObject({ code: "cross_site_refused" });
    expect(foreign.headers["cache-control"]).toBe("no-store");
    // Nothing was spent by them.
    expect((await post("/refresh", { refresh_token })).status).toBe(200);
  },
);

it.each(["//evil.example", "https:evil.example", "/\\evil.example", "javascript:alert(1)", "/orders"])(
  "[auth:AU-122] follows no next=%s: no route redirects",
  async (next) => {
    const { client, post } = accountHarness();
    await post("/register", ann);
    const query = `?next=${encodeURIComponent(next)}`;

    const answers = [
      await client.post(`/account/login${query}`, { body: { identifier: "ann", password, next } }),
      await client.post(`/account/logout${query}`, { body: { next } }),
      await client.post(`/account/password/reset${query}`, { body: { email: ann.email, next } }),
    ];

    expect(answers.map(({ status }) => status)).toEqual([200, 204, 202]);
    expect(answers.map(({ headers }) => headers["location"] ?? headers["refresh"])).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  },
);

accountsIn(SERVERS, (accounts) => {
  it("[auth:AU-098] returns the same response whether the user is unknown, disabled or unverified, or the password is wrong or missing", async () => {
    const { post, users, mails } = accounts({ account: { verifyEmail: true } });
    const objects = users.objects as unknown as SQLUserManager<{ readonly identity: string }>;
    for (const name of ["unverified", "verified", "disabled"])
      await post("/register", { email: `${name}@example.org`, username: name, password });
    await later(() => expect(mails).toHaveLength(3));
    for (const { url, to } of mails)
      if (to !== "unverified@example.org")
        await post("/verify", { token: new URL(url ?? "").searchParams.get("token"), password }, "203.0.113.60");
    const disabled = await users.objects.get({ username: "disabled" });
    if (disabled !== null) await users.objects.disable(disabled);
    await objects.importUser({ email: "none@example.org", username: "none", passwordHash: null, isVerified: true });

    const failed = [
      ["nobody", password],
      ["verified", "wrong password"],
      ["none", password],
      ["disabled", password],
      ["unverified", password],
    ].map(async ([identifier, word], n) => {
      const answer = await post("/login", { identifier, password: word }, `203.0.113.${61 + n}`);
      const { date: _date, ...headers } = answer.headers;
      return { status: answer.status, text: answer.text(), headers: Object.entries(headers) };
    });
    const [first, ...others] = await Promise.all(failed);

    expect(first).toMatchObject({ status: 401, text: expect.stringContaining('"invalid_credentials"') });
    for (const other of others) expect(other).toEqual(first);
    expect((await post("/login", { identifier: "verified", password })).status).toBe(200);
  });

  it("[auth:AU-190] rejects an address with a line break, and removes line breaks of a user agent from logs and events", async () => {
    const log = logCatcher();
    const { post, events } = accounts({ app: { logger: log } });
    const forged = '{"level":30,"msg":"account: login_succeeded"}';

    for (const email of [
      `ann@example.org\n${forged}`,
      "ann@example.org\r\nBcc: all@example.org",
      "ann\u2028@example.org",
    ])
      expect((await post("/register", { ...ann, email })).status).toBe(422);
    await post("/login", { identifier: `ann\n${forged}`, password }, "203.0.113.50", {
      "user-agent": `agent\t\u001b[2J${forged}`,
    });

    await later(() => expect(events).toHaveLength(1));
    const [event] = events as [AccountEvent];
    expect(event.device).toBe("Unknown device");
    expect(log.text.split("\n").filter((line) => line.trimStart().startsWith(forged))).toEqual([]);
    expect(log.lines.some(({ msg }) => msg === "account: login_succeeded")).toBe(false);
    expect(() => Object.assign(event, { kind: "login_succeeded" })).toThrow(TypeError);
  });
});

it("[REQ-05] takes the identity only from a credential on the account routes", async () => {
  const { post, client, users, session } = accountHarness();
  await post("/register", ann);
  await post("/register", { ...ann, email: "eve@example.org", username: "eve" });
  const victim = (await users.objects.get({ username: "ann" }))?.identity ?? "";
  const claims = { "x-user-id": victim, "x-user": victim, "x-forwarded-user": victim, user: victim };

  const nobody = await client.get(`/account/me?user_id=${victim}`, { headers: claims });
  const eve = await client.get(`/account/me?user_id=${victim}`, { headers: { ...claims, ...(await session("eve")) } });
  const change = await post(
    "/password",
    { current_password: password, new_password: "another password", user_id: victim, email: ann.email },
    undefined,
    { ...claims, ...(await session("eve")) },
  );

  expect([nobody.status, (eve.json() as { username: string }).username, change.status]).toEqual([401, "eve", 204]);
  expect((await post("/login", { identifier: "ann", password })).status).toBe(200);
});
