import { accountRoutes, authentication, SessionMiddleware } from "portico/auth";
import { describe, expect, it } from "vitest";
import { memoryUsers } from "./accounts/memory-users.ts";

const STRONG = "a secret of the tests, which is long enough";
const accounts = { userModel: memoryUsers(), audience: "shop" };

describe.each([
  ["authentication", (secret: unknown) => authentication({ ...accounts, secret: secret as string })],
  ["accountRoutes", (secret: unknown) => accountRoutes({ ...accounts, secret: secret as string })],
  ["SessionMiddleware", (secret: unknown) => new SessionMiddleware({ secret: secret as string })],
] as const)("%s", (owner, build) => {
  it.each([
    ["one letter many times", "x".repeat(40)],
    ["one byte many times", new Uint8Array(32)],
    ["a placeholder that everybody knows", "change-me-change-me-change-me-change-me"],
    ["one of them behind a good one", [STRONG, "x".repeat(40)]],
  ])("[auth:AU-038] does not start with %s", (_, secret) => {
    expect(() => build(secret)).toThrow(`${owner}.secret is too easy to guess: use 32 random bytes`);
    expect(() => build(STRONG)).not.toThrow();
  });
});
