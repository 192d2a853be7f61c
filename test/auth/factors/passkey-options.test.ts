import { createRequire } from "node:module";
import { type AuthenticationOptions, authentication } from "portico/auth";
import { expect, it, onTestFinished, vi } from "vitest";
import { accountHarness, secret } from "../accounts/account-harness.ts";
import { memoryUsers } from "../accounts/memory-users.ts";

it.each([
  ["passkeys", true],
  ["passkeys.rpName", {}],
  ["passkeys.rpName", { rpName: 1 }],
  ["passkeys.rpId", { rpName: "Shop", rpId: "https://shop.example" }],
  ["passkeys.rpId", { rpName: "Shop", rpId: undefined }],
  ["passkeys.origins", { rpName: "Shop", origins: ["shop.example"] }],
  ["passkeys.origins", { rpName: "Shop", origins: ["https://shop.example/"] }],
  ["passkeys", { rpName: "Shop", rpID: "shop.example" }],
])("a wrong option stops startup and names authentication.%s: %j", (option, passkeys) => {
  const given = { userModel: memoryUsers(), secret, audience: "shop", mailer: async () => {}, passkeys };

  expect(() => authentication(given as AuthenticationOptions)).toThrow(`authentication.${option}`);
});

it("has no passkey routes without the option, and the domain of publicUrl with it", async () => {
  const [without, having] = [accountHarness(), accountHarness({ account: { passkeys: { rpName: "Shop" } } })];

  expect((await without.post("/passkeys/sign-in/options")).status).toBe(404);
  const begun = await having.post("/passkeys/sign-in/options");
  expect(begun.json()).toMatchObject({ options: { rpId: "shop.example", userVerification: "required" } });
  expect(begun.cookies.join()).toMatch(/^__Host-portico_passkey=[\w-]{43};.*HttpOnly/);
});

it("stops startup when the package is missing, and names the option and the package", async () => {
  vi.resetModules();
  onTestFinished(() => {
    vi.doUnmock("node:module");
    vi.resetModules();
  });
  vi.doMock("node:module", async (original) => ({
    ...(await original<object>()),
    createRequire: (from: string) => (name: string) => {
      if (name === "@simplewebauthn/server") throw new Error("Cannot find module");
      return createRequire(from)(name) as unknown;
    },
  }));
  const { authentication: without } = await import("portico/auth");
  const given = { userModel: memoryUsers(), secret, audience: "shop", mailer: async () => {} };

  expect(() => without(given)).not.toThrow();
  expect(() => without({ ...given, passkeys: { rpName: "Shop" } })).toThrow(
    "authentication.passkeys requires the package @simplewebauthn/server, which could not be loaded. Run: npm install @simplewebauthn/server",
  );
});
