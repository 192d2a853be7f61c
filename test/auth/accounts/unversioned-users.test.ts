import type { AccountModel } from "portico/auth";
import { expect, it } from "vitest";
import { cookieHeader } from "../../sign-in.ts";
import { bearer, factorHarness, type Problem, type Tokens } from "../factors/factor-harness.ts";
import { ann, password } from "./account-harness.ts";
import { memoryUsers } from "./memory-users.ts";

type Found = Awaited<ReturnType<AccountModel["loadUser"]>>;

/** Users without a `credentialVersion`, which a model need not store. */
function unversionedUsers(): AccountModel {
  const users = memoryUsers();
  const { objects } = users;
  const without = (user: Found): Found =>
    user && Object.defineProperty(user, "credentialVersion", { value: undefined });
  return {
    loadUser: async (identity) => without(await users.loadUser(identity)),
    objects: {
      ...objects,
      get: async (key) => without(await objects.get(key)),
      authenticate: async (identifier, word) => without(await objects.authenticate(identifier, word)),
    },
  };
}

const NEW = "a much better password";
const change = { current_password: password, new_password: NEW };

it("a new password ends a sign-in that waits for the second factor", async () => {
  const { login, prove, post, enrol, clock } = await factorHarness({ users: unversionedUsers() });
  const app = await enrol(cookieHeader(await login()));
  clock.advance(60_000);
  const { pending } = (await login()).json() as Problem;

  expect((await post("/password", change, undefined, app.headers)).status).toBe(204);
  expect((await prove({ pending, code: app.code() })).json()).toMatchObject({ status: 401, code: "sign_in_expired" });
});

it("a new password signs the caller in again, in the form of the session", async () => {
  const { client, login, post } = await factorHarness({ users: unversionedUsers() });
  const statusOf = async (headers: Readonly<Record<string, string>>): Promise<number> =>
    (await client.get("/account/me", { headers })).status;
  const session = cookieHeader(await login());
  const tokens = (await login("/token")).json() as Tokens;

  const changed = await post("/password", change, undefined, session);
  expect(changed.status).toBe(204);
  expect(await statusOf(cookieHeader(changed))).toBe(200);
  expect(await statusOf(session)).toBe(401);
  expect(await statusOf(bearer(tokens))).toBe(401);

  const again = (await post("/token", { identifier: ann.email, password: NEW })).json() as Tokens;
  const back = { current_password: NEW, new_password: password };
  const renewed = await post("/password", back, undefined, bearer(again));
  expect(renewed.status).toBe(200);
  expect(renewed.cookies).toEqual([]);
  expect(await statusOf(bearer(renewed.json() as Tokens))).toBe(200);
  expect(await statusOf(bearer(again))).toBe(401);
});
