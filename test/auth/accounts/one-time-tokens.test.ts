import { manualClock } from "portico/testing";
import { expect, it } from "vitest";
import { emailTokens, resetTokens, verifyTokens } from "../../../src/auth/accounts/one-time-tokens.ts";
import type { SecretAttempt } from "../../../src/auth/limits/secret-attempt.ts";
import { RecordingStore } from "../sessions/recording-store.ts";

const attempt = { compares() {} } as SecretAttempt;
const ann = { user: "ann", about: "ann@example.org" };
const bob = { user: "bob", about: "bob@example.org" };

function made() {
  const clock = manualClock();
  const store = new RecordingStore({ clock });
  return { clock, store, tokens: resetTokens(store) };
}

it("a token returns its grant once, and can be read before", async () => {
  const { tokens, store } = made();
  const token = await tokens.issue(ann);

  expect(token).toMatch(/^[\w-]{43}$/);
  expect(store.text).not.toContain(token);
  expect([await tokens.peek(attempt, token), await tokens.peek(attempt, token)]).toEqual([ann, ann]);
  expect([
    await tokens.redeem(attempt, token),
    await tokens.redeem(attempt, token),
    await tokens.peek(attempt, token),
  ]).toEqual([ann, null, null]);
  expect(await tokens.redeem(attempt, "unknown")).toBe(null);
});

it("the newest token of a user is valid, and those of other users and purposes stay so", async () => {
  const { tokens, store } = made();
  const [verify, email] = [verifyTokens(store), emailTokens(store)];
  const older = await tokens.issue(ann);
  const others = [await tokens.issue(bob), await verify.issue(ann), await email.issue(ann)] as const;
  const newest = await tokens.issue(ann);

  expect([await tokens.peek(attempt, older), await tokens.redeem(attempt, older)]).toEqual([null, null]);
  expect(await tokens.peek(attempt, newest)).toEqual(ann);
  expect([
    await tokens.peek(attempt, others[0]),
    await verify.peek(attempt, others[1]),
    await email.peek(attempt, others[2]),
  ]).toEqual([bob, ann, ann]);
  expect([
    await verify.peek(attempt, newest),
    await email.redeem(attempt, newest),
    await tokens.peek(attempt, others[1]),
  ]).toEqual([null, null, null]);
});

it("a revocation ends the token of that user alone", async () => {
  const { tokens } = made();
  const [anns, bobs] = [await tokens.issue(ann), await tokens.issue(bob)];
  await tokens.revoke("ann");

  expect([await tokens.redeem(attempt, anns), await tokens.redeem(attempt, bobs)]).toEqual([null, bob]);
});

it("a token expires after half an hour", async () => {
  const { tokens, clock } = made();
  const token = await tokens.issue(ann);

  clock.advance(30 * 60_000 - 1);
  expect(await tokens.peek(attempt, token)).toEqual(ann);
  clock.advance(1);
  expect(await tokens.redeem(attempt, token)).toBe(null);
});
