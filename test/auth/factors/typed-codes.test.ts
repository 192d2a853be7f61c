import { expect, it } from "vitest";
import { cookieHeader } from "../../sign-in.ts";
import { factorHarness, type Problem } from "./factor-harness.ts";

/** Values of six characters, or of six digits, that are not six ASCII digits. */
const OTHERS = [
  ["full-width digits", "１２３４５６"],
  ["Arabic digits", "١٢٣٤٥٦"],
  ["mathematical digits", "𝟏𝟐𝟑𝟒𝟓𝟔"],
  ["an accent", "12345é"],
  ["emoji", "😀😀😀"],
  ["half of a character", "12345\ud83d"],
  ["a sign", "+12345"],
  ["an exponent", "1e1234"],
] as const;

it.each(OTHERS)("treats a code with %s as an incorrect code, and reports it", async (_name, code) => {
  const { login, prove, enrol, events } = await factorHarness();
  await enrol(cookieHeader(await login()));
  const { pending } = (await login()).json() as Problem;
  events.length = 0;

  const response = await prove({ pending, code });

  expect([response.status, response.json()]).toMatchObject([401, { code: "invalid_second_factor" }]);
  expect(events.map(({ kind }) => kind)).toEqual(["second_factor_failed"]);
});

it.each(OTHERS)("does not add an authenticator app by a code with %s", async (_name, code) => {
  const { login, post } = await factorHarness();
  const session = cookieHeader(await login());
  await post("/factors/totp", {}, undefined, session);

  expect((await post("/factors/totp/confirm", { code }, undefined, session)).status).toBe(401);
});

it("accepts a code that was typed in two groups", async () => {
  const { login, prove, enrol, clock } = await factorHarness();
  const app = await enrol(cookieHeader(await login()));
  clock.advance(60_000);
  const { pending } = (await login()).json() as Problem;

  expect((await prove({ pending, code: app.code().replace(/^.../, "$& ") })).status).toBe(200);
});
