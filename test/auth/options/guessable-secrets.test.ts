import { PorticoApp } from "portico";
import { accountRoutes, authentication, SessionMiddleware } from "portico/auth";
import { describe, expect, it } from "vitest";
import { memoryUsers } from "../accounts/memory-users.ts";

const STRONG = "a secret of the tests, which is long enough";
const accounts = { userModel: memoryUsers(), audience: "shop" };

describe.each([
  ["PorticoApp.cursorKeys", (secret: unknown) => new PorticoApp({ cursorKeys: secret as string })],
  ["authentication.secret", (secret: unknown) => authentication({ ...accounts, secret: secret as string })],
  ["accountRoutes.secret", (secret: unknown) => accountRoutes({ ...accounts, secret: secret as string })],
  ["SessionMiddleware.secret", (secret: unknown) => new SessionMiddleware({ secret: secret as string })],
] as const)("%s", (option, build) => {
  it.each([
    ["one letter many times", "x".repeat(40)],
    ["one byte many times", new Uint8Array(32)],
    ["a placeholder that everybody knows", "change-me-change-me-change-me-change-me"],
    ["one of them behind a good one", [STRONG, "x".repeat(40)]],
  ])("[auth:AU-038] does not start with %s", (_, secret) => {
    expect(() => build(secret)).toThrow(`${option} is too easy to guess: use 32 random bytes`);
    expect(() => build(STRONG)).not.toThrow();
  });

  it.each([
    ["a string of 5 bytes", "short"],
    ["an empty string", ""],
    ["undefined at [1]", [STRONG, undefined]],
    ["an array of 0", []],
    ["an object (Object)", { secret: STRONG }],
  ])("says that it received %s", (received, secret) => {
    expect(() => build(secret)).toThrow(
      `${option} must be a secret of at least 32 bytes, or a list of them, the newest first, received ${received}`,
    );
  });
});
