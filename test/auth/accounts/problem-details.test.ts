import { github } from "portico/auth";
import type { TestResponse } from "portico/testing";
import { expect, it } from "vitest";
import { type FactorHarness, factorHarness, type Headers } from "../factors/factor-harness.ts";
import { accountHarness, ann, password } from "./account-harness.ts";

interface Signed extends FactorHarness {
  readonly headers: Headers;
}

type Call = (signed: Signed) => Promise<TestResponse>;
const post =
  (path: string, body: object): Call =>
  ({ post: send, headers }) =>
    send(path, body, undefined, headers);
const remove =
  (path: string): Call =>
  ({ client, headers }) =>
    client.delete(`/account${path}`, { headers });

const harness = async (): Promise<Signed> => {
  const account = {
    providers: [github({ clientId: "id", clientSecret: "secret" })],
    passkeys: { rpName: "Shop" },
    impersonation: { permission: "users.impersonate" },
    isBreached: async (word: string) => word === "a password that was breached",
  };
  const made = await factorHarness({ account });
  return { ...made, headers: await made.session() };
};

const bob = { email: "bob@example.org", username: "bob", password };
const NOT_A_FORM = "The body must be a JSON object";

it.each<[number, string, string, Call]>([
  [400, "bad_request", NOT_A_FORM, post("/login", [])],
  [400, "bad_request", "The member password must be a string", post("/login", { identifier: "ann" })],
  [
    400,
    "bad_request",
    "The member remember must be true or false",
    post("/login", { identifier: "ann", password, remember: 1 }),
  ],
  [400, "bad_request", "The member credential must be an object", post("/passkeys", { credential: [] })],
  [400, "bad_request", "The member credential must be an object", post("/passkeys", { credential: null })],
  [400, "bad_request", "The member permissions must be a list of strings", post("/keys", { permissions: ["a", 1] })],
  [400, "bad_request", "The member expires_in must be a whole number", post("/keys", { expires_in: 1.5 })],
  [400, "bad_request", "The member code must be a string", post("/second-factor", {})],
  [
    401,
    "invalid_credentials",
    "Incorrect username or password",
    post("/login", { identifier: "ann", password: "wrong horse" }),
  ],
  [
    401,
    "invalid_second_factor",
    "The code is incorrect or was already used",
    post("/second-factor", { code: "000000" }),
  ],
  [
    401,
    "sign_in_expired",
    "The sign-in has expired. Sign in again.",
    post("/second-factor", { code: "1", pending: "unknown" }),
  ],
  [401, "invalid_passkey", "The passkey could not be verified", post("/passkeys", { credential: {} })],
  [401, "unauthenticated", "The refresh token is not valid", post("/refresh", { refresh_token: "prt_x" })],
  [409, "user_exists", "The username is already taken", post("/register", { ...bob, username: "ann" })],
  [
    422,
    "password_too_common",
    "This password is too common. Choose another one.",
    post("/register", { ...bob, password: "password1234" }),
  ],
  [
    422,
    "password_too_common",
    "The password must not match your username, email address or the application name.",
    post("/register", { ...bob, password: "bob@example.org" }),
  ],
  [
    422,
    "password_breached",
    "This password has appeared in a data breach. Choose another one.",
    post("/register", { ...bob, password: "a password that was breached" }),
  ],
  [404, "not_found", "Session not found", remove("/sessions/unknown")],
  [404, "not_found", "API key not found", remove("/keys/unknown")],
  [404, "not_found", "The provider is not linked", remove("/providers/github")],
  [404, "not_found", "Identity provider not found", post("/providers/unknown/link", {})],
  [409, "conflict", "The caller does not act as another user", post("/impersonation/end", {})],
  [403, "forbidden", "Permission denied", post("/impersonation", { user: "x" })],
])("%i %s: %s", async (status, code, detail, call) => {
  const answer = await call(await harness());

  expect(answer.json()).toMatchObject({ status, code, detail });
});

it("a caller who signed in long ago is asked for the password", async () => {
  const signed = await harness();
  signed.clock.advance(600_000);
  const answer = await post("/factors/totp", {})(signed);

  expect(answer.json()).toMatchObject({
    status: 403,
    code: "sign_in_again",
    detail: "A recent sign-in is required. Sign in again or send the password.",
  });
});

it("a user with an authenticator app cannot add another one, and one without has none to remove", async () => {
  const signed = await harness();
  const { headers } = await signed.enrol(signed.headers);

  expect((await post("/factors/totp", {})({ ...signed, headers })).json()).toMatchObject({
    status: 409,
    detail: "The user has an authenticator app already. Remove it first.",
  });
  expect((await remove("/factors/totp")({ ...signed, headers })).status).toBe(204);
  expect((await remove("/factors/totp")({ ...signed, headers })).json()).toMatchObject({
    status: 404,
    detail: "The user has no authenticator app",
  });
  expect((await post("/factors/recovery-codes", {})({ ...signed, headers })).json()).toMatchObject({
    status: 404,
    detail: "The user has no second factor",
  });
});

it.each([
  ["name", { name: "n".repeat(201) }, "must be at most 200 characters long, without control characters"],
  ["name", { name: "backup\u001b[2J" }, "must be at most 200 characters long, without control characters"],
  ["permissions", { permissions: ["a", ""] }, "must not contain an empty permission"],
  ["expires_in", { expires_in: 0 }, "must be from 1 to 3153600000 seconds"],
  ["expires_in", { expires_in: 3_153_600_001 }, "must be from 1 to 3153600000 seconds"],
])("422 for the %s of an API key: %j", async (member, body, message) => {
  const answer = await post("/keys", body)(await harness());

  expect([answer.status, answer.json()]).toMatchObject([422, { errors: [{ path: [member], message }] }]);
});

it.each([{ name: "n".repeat(200), expires_in: 3_153_600_000 }, { expires_in: 1, permissions: [] }, {}])(
  "an API key is created with %j",
  async (body) => {
    expect((await post("/keys", body)(await harness())).status).toBe(201);
  },
);

it("a person check or a breach check that fails is 503 and names the check", async () => {
  const fail = async (): Promise<never> => Promise.reject(new Error("down"));
  const human = accountHarness({ account: { isHuman: fail } });
  const breach = accountHarness({ account: { isBreached: fail, breachCheckFailure: "block" } });

  expect((await human.post("/register", ann)).json()).toMatchObject({
    status: 503,
    detail: "The request could not be checked for a person. Try again later.",
  });
  const blocked = await breach.post("/register", ann);
  expect(blocked.json()).toMatchObject({ detail: "The password could not be checked for breaches. Try again later." });
  expect(blocked.headers["retry-after"]).toBe("5");
});

it("lists the problems of all fields of a registration, with the code of the first", async () => {
  const { post: send } = await harness();

  const one = (await send("/register", { ...bob, password: "short" })).json();
  const all = (await send("/register", { email: "bob", username: "b@ob", password: "short" })).json();

  const short = { in: "body", path: ["password"], message: expect.stringContaining("8 bytes") };
  expect(one).toMatchObject({ status: 422, code: "password_too_short", errors: [short] });
  expect(all).toMatchObject({
    status: 422,
    code: "validation_failed",
    detail: "The email must be a valid email address",
    errors: [
      { in: "body", path: ["email"], message: "The email must be a valid email address" },
      { in: "body", path: ["username"], message: expect.stringContaining("no @") },
      short,
    ],
  });
});
