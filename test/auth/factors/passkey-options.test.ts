import { type AuthenticationOptions, authentication } from "portico/auth";
import { expect, it } from "vitest";
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
