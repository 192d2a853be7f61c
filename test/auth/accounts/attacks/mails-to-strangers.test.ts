import { github } from "portico/auth";
import { expect, it, onTestFinished } from "vitest";
import { codeAt } from "../../../../scripts/clients/authenticator-app.ts";
import { cookieHeader } from "../../../sign-in.ts";
import { accountHarness, password, tokenOf } from "../account-harness.ts";

/** Text that a stranger tries to get into a mail. Each member of a request has its own. */
const CANARY = /canary\d/i;
const text = (n: number): string => `canary${n} https://evil.example/claim`;
const agent = {
  "user-agent": text(0),
  "accept-language": text(1),
  referer: text(2),
  "x-forwarded-host": "canary3.example",
};
const victim = "stranger@bank.example";

it("no email contains text of a request, whatever its routes and members are", async () => {
  const providers = [github({ clientId: "id", clientSecret: "secret" })];
  const account = { knownDevices: true, signInMails: true, providers, passkeys: { rpName: "Shop" } };
  const { app, client, post, mails, users } = accountHarness({ account });
  onTestFinished(() => app.close());
  const send = (path: string, body: object, from = "203.0.113.1", headers = {}) =>
    post(path, body, from, { ...agent, ...headers });
  await send("/register", { email: victim, username: "canary4", password, name: text(5), display_name: text(6) });
  const signIn = async (n: number) => {
    const { cookies } = await send("/login", { identifier: victim, password, name: text(7) }, `198.51.100.${n}`);
    return cookieHeader({ cookies });
  };
  const headers = await signIn(1);
  for (let n = 2; n < 6; n++) await signIn(n);
  await send("/token", { identifier: victim, password }, "198.51.100.9");
  await send("/sign-in-mail", { email: victim, return_to: text(8) });
  await send("/verify/request", { email: victim, name: text(8) });
  await send("/email", { email: "canary-free@bank.example", password, name: text(9) }, "203.0.113.2", headers);
  await send("/register", { email: victim, username: "canary9", password });
  const { secret } = (await send("/factors/totp", { name: text(1) }, undefined, headers)).json() as { secret: string };
  const code = codeAt(secret, Date.now());
  await send("/factors/totp/confirm", { code, name: text(2) }, undefined, headers);
  await client.delete("/account/providers/canary3", { headers: { ...headers, ...agent } });
  await send("/password/reset", { email: victim, subject: text(3) });
  await expect.poll(() => tokenOf(mails, "reset")).not.toBe("");
  await send("/password/reset/confirm", { token: tokenOf(mails, "reset"), password: "another good password" });
  await app.close();

  expect(mails.length).toBeGreaterThan(6);
  expect(new Set(mails.map(({ to }) => to))).toEqual(new Set([victim, "canary-free@bank.example"]));
  expect(mails.filter((mail) => CANARY.test(JSON.stringify(mail)))).toEqual([]);
  expect(await users.objects.get({ username: "canary4" })).not.toBe(null);
});

it("a stranger who registers an address and signs in on new devices sends its owner three emails in an hour", async () => {
  const { app, post, mails } = accountHarness({ account: { knownDevices: true } });
  onTestFinished(() => app.close());
  await post("/register", { email: victim, username: "x9", password });
  for (let n = 0; n < 12; n++)
    await post("/login", { identifier: "x9", password }, `198.51.100.${n}`, { "user-agent": `${text(0)} ${n}` });
  await app.close();

  const sent = mails.filter(({ kind }) => kind === "new_device");
  expect(sent).toHaveLength(3);
  expect(new Set(sent.map(({ device }) => device))).toEqual(new Set(["Unknown device"]));
});
