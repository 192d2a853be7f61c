import type { Mail } from "portico/auth";
import { expect, it, vi } from "vitest";
import { cookieHeader } from "../../sign-in.ts";
import { factorHarness, type Problem } from "../factors/factor-harness.ts";
import { ann, password } from "./account-harness.ts";

const kindsOf = (mails: readonly Mail[]): readonly string[] => mails.map(({ kind }) => kind);

it("sends the owner an email when an authenticator app is added or removed, and when recovery codes are used or replaced", async () => {
  const harness = await factorHarness();
  const { login, prove, enrol, mails, client, post, users, clock } = harness;
  await users.objects.markVerified((await users.objects.get({ email: ann.email })) as never);
  const { headers, recovery } = await enrol(cookieHeader(await login()));
  await vi.waitFor(() => expect(kindsOf(mails)).toEqual(["second_factor_enrolled"]), 60_000);
  expect(mails[0]).toEqual({ to: ann.email, kind: "second_factor_enrolled", url: null });

  clock.advance(60_000);
  const { pending } = (await login()).json() as Problem;
  expect((await prove({ pending, code: recovery[0] })).status).toBe(200);
  await vi.waitFor(() => expect(kindsOf(mails).at(-1)).toBe("recovery_code_used"), 60_000);

  expect((await post("/factors/recovery-codes", {}, undefined, headers)).status).toBe(200);
  await vi.waitFor(() => expect(kindsOf(mails).at(-1)).toBe("recovery_codes_created"), 60_000);

  expect((await client.delete("/account/factors/totp", { headers })).status).toBe(204);
  await vi.waitFor(() => expect(kindsOf(mails).at(-1)).toBe("second_factor_removed"), 60_000);
  expect(mails).toHaveLength(4);
});

it("sends no email for a code of the app, and none after a wrong code", async () => {
  const { login, prove, enrol, mails, clock } = await factorHarness();
  const { code } = await enrol(cookieHeader(await login()));
  await vi.waitFor(() => expect(mails).toHaveLength(1), 60_000);
  clock.advance(60_000);
  const { pending } = (await login()).json() as Problem;
  expect((await prove({ pending, code: "AAAA-AAAA-AAAA" })).status).toBe(401);
  expect((await prove({ pending, code: code() })).status).toBe(200);

  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(mails).toHaveLength(1);
});

it("does not flood an address that is not verified", async () => {
  const { login, mails, post } = await factorHarness({ isOwned: false });
  let headers = cookieHeader(await login());
  for (let n = 0; n < 4; n++) {
    const words = {
      current_password: n === 0 ? password : `password number ${n}`,
      new_password: `password number ${n + 1}`,
    };
    headers = cookieHeader(await post("/password", words, undefined, headers));
  }

  await vi.waitFor(() => expect(mails).toHaveLength(3), 60_000);
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(mails).toHaveLength(3);
});
