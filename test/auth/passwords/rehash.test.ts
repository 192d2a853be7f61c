import { hash as argon2, type Options } from "@node-rs/argon2";
import { PasswordHasher } from "portico/auth";
import { logCatcher, testClient } from "portico/testing";
import { expect, it } from "vitest";
import { loginApp } from "./login-app.ts";

const PASSWORD = "correct horse battery staple";
// The standard preset.
const STANDARD: Options = { memoryCost: 19_456, timeCost: 2, parallelism: 1, outputLen: 32 };

it.each<[string, object, boolean]>([
  ["the standard cost", {}, false],
  ["more memory", { memoryCost: 20_000 }, false],
  ["less memory", { memoryCost: 19_455 }, true],
  ["one pass", { timeCost: 1 }, true],
  ["a short tag", { outputLen: 31 }, true],
  ["argon2i", { algorithm: 1 }, true],
  ["the older version of argon2", { version: 0 }, true],
])("a hash with %s is right, and is replaced if it is weaker than a new one", async (_, options, needsRehash) => {
  const stored = await argon2(PASSWORD, { ...STANDARD, ...options });

  expect(await new PasswordHasher().verify(PASSWORD, stored)).toEqual({ isRight: true, needsRehash });
  expect(await new PasswordHasher().verify("another password", stored)).toEqual({ isRight: false, needsRehash: false });
});

it("a user who does not exist leaves no line about a malformed hash in the log", async () => {
  const logger = logCatcher();
  const app = loginApp(new Map([["eve", "not a hash"]]), { logger });
  const client = testClient(app);
  const login = (name: string) => client.post("/login", { body: { name, password: PASSWORD } });

  expect((await login("ann")).status).toBe(401);
  expect(logger.text).not.toContain("malformed");
  expect((await login("eve")).status).toBe(401);
  expect(logger.text).toContain("a stored password hash is malformed");
  await app.close();
});
