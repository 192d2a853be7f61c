import { github } from "portico/auth";
import { expect, it } from "vitest";
import { cookieHeader } from "../../sign-in.ts";
import { factorHarness, type Problem } from "../factors/factor-harness.ts";
import { accountHarness, ann, owned, password } from "./account-harness.ts";

it("an event of a failed attempt has the outcome failure, and all others success", async () => {
  const isBreached = async (): Promise<never> => Promise.reject(new Error("down"));
  const providers = [github({ clientId: "id", clientSecret: "secret" })];
  const { post, client, login, prove, enrol, events } = await factorHarness({ account: { isBreached, providers } });
  await post("/register", ann);
  await post("/login", { identifier: ann.email, password: "wrong horse" });
  const { code } = await enrol(cookieHeader(await login()));
  const { pending } = (await login()).json() as Problem;
  await prove({ pending, code: "000000" });
  await prove({ pending, code: code(1) });
  await client.get("/account/providers/github/callback?state=unknown&code=x");

  expect(events.map(({ kind, outcome }) => `${kind}: ${outcome}`)).toEqual([
    "breach_check_failed: failure",
    "registered: success",
    "breach_check_failed: failure",
    "registration_repeated: failure",
    "login_failed: failure",
    "login_succeeded: success",
    "second_factor_enrolled: success",
    "recovery_codes_created: success",
    "login_succeeded: success",
    "second_factor_failed: failure",
    "second_factor_used: success",
    "provider_sign_in_failed: failure",
  ]);
});

it("an event names the user, the caller, the time, the address and the device", async () => {
  const { post, session, events, users, app } = accountHarness(owned);
  const user = await users.objects.createUser(ann);
  const agent = { "user-agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0" };
  await post("/login", { identifier: ann.email, password }, "198.51.100.7", agent);
  await post("/keys", {}, "198.51.100.8", { ...(await session()), ...agent });
  await app.close();

  expect(events[0]).toEqual({
    kind: "login_succeeded",
    outcome: "success",
    user: user.identity,
    actor: null,
    at: expect.any(Date) as Date,
    address: "198.51.100.7",
    device: "Firefox on Linux",
  });
  expect(events.at(-1)).toMatchObject({ kind: "api_key_created", user: user.identity, actor: user.identity });
});

it("a sign-in by email is reported as a sign-in", async () => {
  const { post, users, mails, events, app } = accountHarness({ account: { signInMails: true } });
  const user = await users.objects.createUser(ann);
  const browser = cookieHeader(await post("/sign-in-mail", { email: ann.email }));
  await expect.poll(() => mails.length).toBe(1);
  await post("/sign-in-mail/confirm", { code: mails[0]?.code }, undefined, browser);
  await app.close();

  expect(events).toMatchObject([{ kind: "login_succeeded", user: user.identity, outcome: "success" }]);
});
