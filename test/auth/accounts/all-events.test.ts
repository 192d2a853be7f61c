import { memoryStores } from "portico";
import { type AccountEvent, github } from "portico/auth";
import { expect, it } from "vitest";
import { cookieHeader } from "../../sign-in.ts";
import { factorHarness, type Tokens } from "../factors/factor-harness.ts";
import { passkeyHarness } from "../factors/passkey-harness.ts";
import { SoftwareAuthenticator } from "../factors/software-authenticator.ts";
import { RecordingStore } from "../sessions/recording-store.ts";
import { ann, password, tokenOf } from "./account-harness.ts";

/** A store that notes the names of the entries that are written. A later release must find them. */
function noting(): { readonly durable: RecordingStore; readonly written: ReadonlySet<string> } {
  const [durable, written] = [new RecordingStore(), new Set<string>()];
  durable.before = (operation, key) => {
    if (operation !== "get") written.add(key.split(":")[0] ?? "");
  };
  return { durable, written };
}

it("every step of an account is reported once, with its user and its caller", async () => {
  const { durable, written } = noting();
  const { events, post, login, client, users, mails, app, clock } = await factorHarness({
    stores: { ...memoryStores(), durable },
    account: { knownDevices: true, signInMails: true },
    isOwned: false,
  });
  const { identity } = (await users.objects.get({ email: ann.email })) as { readonly identity: string };
  const mailed = async (count: number): Promise<void> => {
    await expect.poll(() => mails).toHaveLength(count);
  };
  const first = cookieHeader(await login());
  const tokens = (await post("/token", { identifier: "ann", password })).json() as Tokens;
  await post("/refresh", { refresh_token: tokens.refresh_token });
  await mailed(1);
  await post("/verify/request", {}, undefined, first);
  await mailed(2);
  const code = mails.at(-1)?.code;
  const owner = cookieHeader(await post("/verify", { code }, undefined, first));
  await login();
  await mailed(3);
  const { id } = (await post("/keys", {}, undefined, owner)).json() as { readonly id: string };
  await client.delete(`/account/keys/${id}`, { headers: owner });
  const sessions = (await client.get("/account/sessions", { headers: owner })).json() as readonly {
    readonly id: string;
    readonly current: boolean;
  }[];
  const other = sessions.find(({ current }) => !current);
  await client.delete(`/account/sessions/${other?.id}`, { headers: owner });
  await post("/email", { email: "new@example.org" }, undefined, owner);
  await mailed(4);
  await post("/email/confirm", { token: tokenOf(mails, "change_email") }, undefined, owner);
  await mailed(5);
  await post("/password/reset", { email: "new@example.org" });
  await mailed(6);
  await post("/password/reset/confirm", { token: tokenOf(mails, "reset"), password: "a much better password" });
  clock.advance(1_000);
  const again = cookieHeader(await post("/login", { identifier: "ann", password: "a much better password" }));
  const changed = await post(
    "/password",
    { current_password: "a much better password", new_password: password },
    undefined,
    again,
  );
  await post("/logout", {}, undefined, cookieHeader(changed));
  const last = cookieHeader(await login("/login", { identifier: "ann" }));
  await post("/logout/everywhere", {}, undefined, last);
  await app.close();

  const nameOf = (id: string | null): string | null => (id === identity ? "ann" : id);
  const lines = events.map(({ kind, user, actor, outcome }: AccountEvent) => [
    kind,
    nameOf(user),
    nameOf(actor),
    outcome,
  ]);
  expect(lines).toEqual(
    [
      ["registered", "ann", null],
      ["login_succeeded", "ann", null],
      ["login_succeeded", "ann", null],
      ["new_device", "ann", null],
      ["token_refreshed", "ann", null],
      ["email_verified", "ann", "ann"],
      ["login_succeeded", "ann", null],
      ["new_device", "ann", null],
      ["api_key_created", "ann", "ann"],
      ["api_key_revoked", "ann", "ann"],
      ["session_revoked", "ann", "ann"],
      ["email_change_requested", "ann", "ann"],
      ["email_changed", "ann", "ann"],
      ["password_reset_requested", null, null],
      ["password_reset", "ann", null],
      ["login_succeeded", "ann", null],
      ["new_device", "ann", null],
      ["password_changed", "ann", "ann"],
      ["logged_out", "ann", null],
      ["login_succeeded", "ann", null],
      ["new_device", "ann", null],
      ["logged_out_everywhere", "ann", "ann"],
    ].map((line) => [...line, "success"]),
  );
  expect([...written].toSorted()).toEqual([
    "apikey",
    "apikeys-of",
    "email-change",
    "email-change-of",
    "email-verification",
    "email-verification-of",
    "known-device",
    "password-reset",
    "password-reset-of",
    "refresh",
    "refresh-epoch",
    "second-factor-of",
    "session",
    "sessions-of",
    "verify-code",
  ]);
});

it("factors, providers and emails to sign in have entries of their own", async () => {
  const { durable, written } = noting();
  const { byPassword, add, enrol, login, client, post } = await passkeyHarness({
    stores: { ...memoryStores(), durable },
    account: { signInMails: true, providers: [github({ clientId: "id", clientSecret: "secret" })] },
  });
  const { headers } = await enrol(await byPassword());
  await add(headers, new SoftwareAuthenticator());
  await login();
  await client.get("/account/providers/github");
  await post("/sign-in-mail", { email: ann.email });
  await expect.poll(() => written.has("sign-in-mail-newest")).toBe(true);

  expect([...written].filter((name) => !name.startsWith("session")).toSorted()).toEqual([
    "email-change-of",
    "factors",
    "passkey-challenge",
    "passkey-owner",
    "provider-sign-in",
    "refresh-epoch",
    "second-factor",
    "second-factor-of",
    "sign-in-mail",
    "sign-in-mail-newest",
    "sign-in-mail-sent",
    "totp-enrolment",
  ]);
});
