import { manualClock } from "portico/testing";
import { expect, it } from "vitest";
import { emailTokens, resetTokens, verifyTokens } from "../../../src/auth/accounts/one-time-tokens.ts";
import { RecordingStore } from "../sessions/recording-store.ts";

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
  expect([await tokens.peek(token), await tokens.peek(token)]).toEqual([ann, ann]);
  expect([await tokens.redeem(token), await tokens.redeem(token), await tokens.peek(token)]).toEqual([ann, null, null]);
  expect(await tokens.redeem("unknown")).toBe(null);
});

it("the newest token of a user is valid, and those of other users and purposes stay so", async () => {
  const { tokens, store } = made();
  const [verify, email] = [verifyTokens(store), emailTokens(store)];
  const older = await tokens.issue(ann);
  const others = [await tokens.issue(bob), await verify.issue(ann), await email.issue(ann)] as const;
  const newest = await tokens.issue(ann);

  expect([await tokens.peek(older), await tokens.redeem(older)]).toEqual([null, null]);
  expect(await tokens.peek(newest)).toEqual(ann);
  expect([await tokens.peek(others[0]), await verify.peek(others[1]), await email.peek(others[2])]).toEqual([
    bob,
    ann,
    ann,
  ]);
  expect([await verify.peek(newest), await email.redeem(newest), await tokens.peek(others[1])]).toEqual([
    null,
    null,
    null,
  ]);
});

it("a revocation ends the token of that user alone", async () => {
  const { tokens } = made();
  const [anns, bobs] = [await tokens.issue(ann), await tokens.issue(bob)];
  await tokens.revoke("ann");

  expect([await tokens.redeem(anns), await tokens.redeem(bobs)]).toEqual([null, bob]);
});

it("a token expires after half an hour", async () => {
  const { tokens, clock } = made();
  const token = await tokens.issue(ann);

  clock.advance(30 * 60_000 - 1);
  expect(await tokens.peek(token)).toEqual(ann);
  clock.advance(1);
  expect(await tokens.redeem(token)).toBe(null);
});
