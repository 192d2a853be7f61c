import { createRequire } from "node:module";
import { beforeEach, expect, it, vi } from "vitest";
import { memoryUsers } from "./accounts/memory-users.ts";

const MISSING = ["@simplewebauthn/server", "openid-client"];

const given = {
  userModel: memoryUsers(),
  secret: "a secret of the tests, which is long enough",
  audience: "shop",
  mailer: async () => {},
};

beforeEach(() => {
  vi.resetModules();
  vi.doMock("node:module", async (original) => ({
    ...(await original<object>()),
    createRequire: (from: string) => {
      const present = (name: string): string => {
        if (MISSING.includes(name)) throw new Error("Cannot find module");
        return name;
      };
      const found = createRequire(from);
      return Object.assign((name: string) => found(present(name)) as unknown, {
        resolve: (name: string) => found.resolve(present(name)),
      });
    },
  }));
});

it("stops startup when the package for passkeys is missing, and names the option and the package", async () => {
  const { authentication } = await import("portico/auth");

  expect(() => authentication(given)).not.toThrow();
  expect(() => authentication({ ...given, passkeys: { rpName: "Shop" } })).toThrow(
    "authentication.passkeys requires the package @simplewebauthn/server, which could not be loaded. Run: npm install @simplewebauthn/server",
  );
});

it("names the package that a provider lacks", async () => {
  const { oidc } = await import("portico/auth");
  const acme = { name: "acme", issuer: "https://login.acme.com", clientId: "id", clientSecret: "secret" };

  expect(() => oidc(acme)).toThrow(
    "oidc requires the package openid-client, which could not be loaded. Run: npm install openid-client",
  );
});
