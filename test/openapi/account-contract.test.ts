import { APIKeys } from "portico/auth";
import { type ManualClock, manualClock } from "portico/testing";
import { afterEach, expect, it } from "vitest";
import { codeAt } from "../../scripts/clients/authenticator-app.ts";
import { type CheckedFetch, checkedFetch, describedResponses } from "../../scripts/clients/checked-fetch.ts";
import { type AccountHarness, accountHarness, ann, password, tokenOf } from "../auth/accounts/account-harness.ts";

type Answer = Readonly<Record<string, string>>;
type Call = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Readonly<Record<string, string>>,
) => Promise<Answer>;

interface Account extends AccountHarness {
  readonly clock: ManualClock;
  readonly call: Call;
  /** From one address, as often as it takes. */
  readonly insist: (path: string, body: unknown) => Promise<void>;
  readonly seen: CheckedFetch["seen"];
}

const open: AccountHarness["app"][] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((app) => app.close()));
});

/** An application with accounts behind a socket; each response is checked against the document, each request has its own address. */
async function listening(): Promise<Account> {
  const clock = manualClock();
  const account = { verifyEmail: true, keys: new APIKeys({ maxPerUser: 2 }) };
  const harness = accountHarness({ account, app: { clock } });
  const { fetch, seen } = checkedFetch(harness.app.openapi());
  const { url } = await harness.app.listen({ port: 0 });
  open.push(harness.app);
  let calls = 0;
  const send = async (method: string, path: string, body: unknown, headers: object): Promise<Response> => {
    const given = { "content-type": "application/json", "x-forwarded-for": `10.0.${++calls >> 8}.${calls & 255}` };
    const content = body === undefined ? {} : { body: JSON.stringify(body) };
    return fetch(new Request(`${url}/account${path}`, { method, ...content, headers: { ...given, ...headers } }));
  };
  return {
    ...harness,
    clock,
    seen,
    async call(method, path, body, headers = {}) {
      const text = await (await send(method, path, body, headers)).text();
      return text === "" ? {} : (JSON.parse(text) as Answer);
    },
    async insist(path, body) {
      for (let count = 0; count < 70; count++)
        if ((await send("POST", path, body, { "x-forwarded-for": "192.0.2.1" })).status === 429) return;
      throw new Error(`${path} has no limit`);
    },
  };
}

/** Adds an authenticator app, and proves it once more with its next code. */
async function addApp(call: Call, clock: ManualClock): Promise<void> {
  const { secret = "" } = await call("POST", "/factors/totp", {});
  await call("POST", "/factors/totp/confirm", { code: codeAt(secret, clock.now()) });
  await call("POST", "/second-factor", { code: codeAt(secret, clock.now() + 30_000) });
}

const login = { identifier: ann.email, password };

it("responds throughout the life of an account as the document says", async () => {
  const { call, clock, mails, seen } = await listening();
  const mailed = async (kind: Parameters<typeof tokenOf>[1]): Promise<string> => {
    await expect.poll(() => mails.some((mail) => mail.kind === kind)).toBe(true);
    return tokenOf(mails, kind);
  };

  await call("POST", "/register", ann);
  await call("POST", "/verify/request", { email: ann.email });
  await expect.poll(() => mails.length).toBe(2);
  await call("POST", "/verify", { token: await mailed("verify"), password });
  await call("POST", "/login", login);
  await call("GET", "/me");
  const key = await call("POST", "/keys", { name: "backup", permissions: ["read:books"], expires_in: 60 });
  await call("GET", "/me", undefined, { "x-api-key": key["key"] ?? "", cookie: "none=1" });
  await call("GET", "/keys");
  await call("DELETE", `/keys/${key["id"]}`);
  await call("POST", "/email", { email: "ann@shop.example" });
  await call("POST", "/email/confirm", { token: await mailed("change_email") });
  const renamed = { identifier: "ann@shop.example", password };
  await call("POST", "/login", renamed);
  await call("POST", "/password", { current_password: password, new_password: "a second horse" });
  const first = await call("POST", "/token", { ...renamed, password: "a second horse" });
  const { access_token } = await call("POST", "/refresh", { refresh_token: first["refresh_token"] });
  const bearer = { authorization: `Bearer ${access_token}` };
  await call("POST", "/password", { current_password: "a second horse", new_password: "a third horse" }, bearer);
  await call("POST", "/login", { ...renamed, password: "a third horse" });
  const [session] = (await call("GET", "/sessions")) as unknown as readonly { readonly id: string }[];
  await call("DELETE", `/sessions/${session?.id}`);
  await call("POST", "/login", { ...renamed, password: "a third horse" });
  await call("POST", "/logout/everywhere");
  await call("POST", "/password/reset", { email: "ann@shop.example" });
  await call("POST", "/password/reset/confirm", { token: await mailed("reset"), password });
  await call("POST", "/login", renamed);
  await addApp(call, clock);
  await call("GET", "/factors");
  await call("POST", "/factors/recovery-codes");
  await call("DELETE", "/factors/totp");
  await call("POST", "/logout");

  expect([...seen].toSorted()).toEqual([
    "accountChangePassword 200",
    "accountChangePassword 204",
    "accountConfirmEmailChange 204",
    "accountConfirmTotp 200",
    "accountCreateKey 201",
    "accountCreateToken 200",
    "accountEnrolTotp 201",
    "accountListFactors 200",
    "accountListKeys 200",
    "accountListSessions 200",
    "accountLogin 200",
    "accountLogout 204",
    "accountLogoutEverywhere 204",
    "accountMe 200",
    "accountRefreshToken 200",
    "accountRegister 202",
    "accountRemoveTotp 204",
    "accountRenewRecoveryCodes 200",
    "accountRequestEmailChange 202",
    "accountRequestPasswordReset 202",
    "accountRequestVerification 202",
    "accountResetPassword 204",
    "accountRevokeKey 204",
    "accountRevokeSession 204",
    "accountSecondFactor 200",
    "accountVerifyEmail 204",
  ]);
});

it("fails only with statuses that the document lists, and with each of them", async () => {
  const { app, call, clock, insist, seen, users } = await listening();
  const document = app.openapi();
  await users.objects.markVerified(await users.objects.createUser(ann));
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      method: method.toUpperCase(),
      path: path.replace("/account", "").replace("{id}", "nothing"),
    })),
  );
  const anonymous = { cookie: "none=1" };

  await call("POST", "/login", login);
  for (const { method, path, requestBody, security } of operations) {
    if (requestBody !== undefined) await call(method, path, []);
    if (method !== "GET") await call(method, path, {}, { origin: "https://elsewhere.example" });
    if (method === "DELETE") await call(method, path);
    if (security !== undefined) await call(method, path, undefined, anonymous);
  }
  await call("POST", "/login", { ...login, password: "wrong horse" }, anonymous);
  await call("POST", "/token", { ...login, password: "wrong horse" }, anonymous);
  await call("POST", "/refresh", { refresh_token: "nothing" });
  await call("POST", "/verify", { code: "nothing" }, anonymous);
  await call("POST", "/verify/request", {}, anonymous);
  const long = "x".repeat(2_000);
  await call("POST", "/login", { ...login, password: long }, anonymous);
  await call("POST", "/token", { ...login, password: long }, anonymous);
  await call("POST", "/register", { ...ann, email: "new@example.org", password: "another horse" });
  await call("POST", "/register", { ...ann, email: "nothing" });
  await call("POST", "/password", { current_password: password, new_password: "short" });
  await call("POST", "/password/reset/confirm", { token: "nothing", password: "short" });
  await call("POST", "/email", { email: "nothing" });
  await call("POST", "/keys", { expires_in: 0 });
  for (let count = 0; count < 3; count++) await call("POST", "/keys", {});
  const { refresh_token } = await call("POST", "/token", login, anonymous);
  await insist("/login", { identifier: "nobody@example.org", password });
  await insist("/token", { identifier: "nobody@example.org", password });
  await insist("/password", { current_password: "wrong horse", new_password: password });
  await insist("/register", { ...ann, email: "nothing" });
  for (const path of ["/password/reset", "/verify/request"]) await insist(path, { email: "x@example.org" });
  for (const path of ["/verify", "/email/confirm"]) await insist(path, { token: "nothing" });
  await insist("/password/reset/confirm", { token: "nothing", password });
  await insist("/email", { email: "nothing" });
  for (let count = 0, next = refresh_token; count < 11; count++)
    next = (await call("POST", "/refresh", { refresh_token: next }))["refresh_token"] ?? next ?? "";

  await call("DELETE", "/factors/totp");
  await addApp(call, clock);
  await call("POST", "/factors/totp", {});
  await call("POST", "/factors/totp/confirm", { code: "nothing" });
  await call("DELETE", "/factors/totp");
  await call("DELETE", "/factors/totp");
  await call("POST", "/factors/recovery-codes");
  await insist("/factors/totp/confirm", { code: "nothing" });
  await insist("/second-factor", { pending: "nothing", code: "nothing" });

  clock.advance(601_000);
  await call("POST", "/keys", {});
  await insist("/keys", { password: "wrong horse" });
  await insist("/factors/totp", { password: "wrong horse" });

  const failures = describedResponses(document).filter((entry) => !/ (?:2\d\d|503)$/.test(entry));
  // Every gate may reject a signed-in caller, but the gate of these four does not. And a reset requires a code only of an
  // account that was never verified and has a second factor, which no route can add.
  const reads = ["accountMe 403", "accountListSessions 403", "accountListKeys 403", "accountListFactors 403"];
  const never = [...reads, "accountResetPassword 401"];
  expect(failures.filter((entry) => !seen.has(entry)).toSorted()).toEqual(never.toSorted());
});

it("has one tag, short operation ids and one component for each kind of object", () => {
  const { tags, paths, components } = accountHarness().app.openapi();

  const operations = Object.values(paths).flatMap((path) => Object.values(path));
  expect(tags).toEqual([{ name: "Account" }]);
  for (const { operationId, tags: own, summary } of operations) {
    expect(operationId).toMatch(/^account(?:[A-Z][a-z]+){1,4}$/);
    expect(own).toEqual(["Account"]);
    expect(summary).toMatch(/^[A-Z][a-zA-Z -]{5,60}$/);
  }
  expect(Object.keys(components.schemas)).toEqual([
    "AccountConfirmedTotp",
    "AccountCreatedKey",
    "AccountFactors",
    "AccountKey",
    "AccountMailAccepted",
    "AccountNewTotp",
    "AccountRecoveryCodes",
    "AccountSession",
    "AccountTokens",
    "AccountUser",
    "Problem",
    "ValidationProblem",
  ]);
});
