import assert from "node:assert/strict";
import type { AccountClient, Result } from "./account-client.ts";

const PASSWORDS = [
  "correct horse battery",
  "a second horse battery",
  "a third horse battery",
  "the last horse",
] as const;

/**
 * The life of an account, from its registration to the reset of its password. Throws where a response is not the expected one.
 *
 * @param codeOf returns the code of an authenticator app, some steps from now
 * @param mailed returns the token of the link in the last mail of that kind
 */
export async function accountLife(
  client: AccountClient,
  name: string,
  mailed: (kind: "verify" | "reset") => Promise<string>,
  codeOf: (secret: string, steps: number) => string,
): Promise<void> {
  const email = `${name}@example.org`;
  const signIn = (password: string) => ({ identifier: email, password });

  await expectStatus(202, client.register({ email, username: name, password: PASSWORDS[0] }));
  await expectStatus(204, client.verifyEmail(await mailed("verify"), PASSWORDS[0]));
  const refused = await client.login(signIn("wrong horse battery"));
  assert.deepEqual([refused.error?.status, refused.error?.code], [401, "invalid_credentials"]);

  const user = await expectStatus(200, client.login({ ...signIn(PASSWORDS[0]), remember: true }));
  assert.deepEqual([user?.email, user?.email_verified], [email, true]);
  assert.equal((await expectStatus(200, client.me()))?.id, user?.id);
  await expectStatus(204, client.changePassword(PASSWORDS[0], PASSWORDS[1]));

  const first = await expectStatus(200, client.createToken(signIn(PASSWORDS[1])));
  const second = await expectStatus(200, client.refreshToken(first?.refresh_token ?? ""));
  const bearer = { authorization: `Bearer ${second?.access_token}`, cookie: "none=1" };
  assert.equal((await expectStatus(200, client.me(bearer)))?.username, name);
  const third = await expectStatus(200, client.changePassword(PASSWORDS[1], PASSWORDS[2], bearer));
  assert.ok((third?.expires_in ?? 0) > 0);

  await expectStatus(200, client.login(signIn(PASSWORDS[2])));
  const made = await expectStatus(201, client.createKey({ name: "backup", permissions: ["read:books"] }));
  const byKey = { "x-api-key": made?.key ?? "", cookie: "none=1" };
  assert.equal((await expectStatus(200, client.me(byKey)))?.id, user?.id);
  const keys = await expectStatus(200, client.listKeys());
  assert.deepEqual(
    keys?.map(({ id, permissions }) => [id, permissions]),
    [[made?.id, ["read:books"]]],
  );
  await expectStatus(204, client.revokeKey(made?.id ?? ""));
  assert.equal((await client.me(byKey)).error?.status, 401);

  const sessions = (await expectStatus(200, client.listSessions())) ?? [];
  const other = sessions.find(({ current }) => !current);
  await expectStatus(204, client.revokeSession(other?.id ?? ""));
  assert.equal((await client.revokeSession(other?.id ?? "")).error?.code, "not_found");
  await expectStatus(204, client.logout());
  assert.equal((await client.me()).error?.code, "unauthenticated");

  await expectStatus(202, client.requestPasswordReset(email));
  await expectStatus(204, client.resetPassword(await mailed("reset"), PASSWORDS[3]));
  await expectStatus(200, client.login(signIn(PASSWORDS[3])));
  await secondFactors(client, () => client.login(signIn(PASSWORDS[3])), codeOf);
}

/** Adds an authenticator app, signs in with it and with a recovery code, and removes it. */
async function secondFactors(
  client: AccountClient,
  signIn: () => Promise<Result<unknown>>,
  codeOf: (secret: string, steps: number) => string,
): Promise<void> {
  const creation = await expectStatus(200, client.passkeyOptions());
  assert.equal(creation?.options.authenticatorSelection?.userVerification, "required");
  assert.ok((await expectStatus(200, client.passkeySignInOptions()))?.options.challenge);

  const { secret = "" } = (await expectStatus(201, client.enrolTotp())) ?? {};
  const confirmed = await expectStatus(200, client.confirmTotp(codeOf(secret, -1)));
  const [recovery = ""] = confirmed?.recovery_codes ?? [];
  const pendingOf = async (): Promise<string> => {
    const { error } = await signIn();
    assert.equal(error?.code, "second_factor_required");
    return String(error?.["pending"]);
  };
  const wrong = await client.secondFactor({ pending: await pendingOf(), code: "wrong" });
  assert.equal(wrong.error?.code, "invalid_second_factor");
  await expectStatus(200, client.secondFactor({ pending: await pendingOf(), code: codeOf(secret, 0) }));
  await expectStatus(200, client.secondFactor({ pending: await pendingOf(), code: recovery }));
  const factors = await expectStatus(200, client.listFactors());
  assert.deepEqual([factors?.totp_created_at !== null, factors?.recovery_codes], [true, 9]);
  await expectStatus(204, client.removeTotp());
}

async function expectStatus<Data>(status: number, result: Promise<Result<Data>>): Promise<Data | undefined> {
  const { data, error, response } = await result;
  assert.equal(response?.status, status, error?.detail);
  return data;
}
