import { createHash } from "node:crypto";
import { Script } from "node:vm";
import { expect, it } from "vitest";
import { runBundled } from "../../run-bundled.ts";

const APP = `
import { Metrics, operationsPage, PorticoApp } from "portico";
import { authentication } from "portico/auth";
import { memoryUsers } from "./test/auth/accounts/memory-users.ts";
const app = new PorticoApp({ logger: false });
const secret = "a secret that is used in this test only, and nowhere else";
app.use(authentication({ userModel: memoryUsers(), secret, audience: "shop", mailer: async () => {}, pages: true }));
app.mount("/operations", operationsPage(new Metrics(), { auth: false }));
const get = async (url) => {
  const { body, headers } = await app.inject({ url, headers: { accept: "text/html" } });
  return { text: body.toString(), policy: headers["content-security-policy"] };
};
const [, script] = /<script src="[.]([^"]+)"/.exec((await get("/account")).text);
console.log(JSON.stringify({ account: await get(script), operations: await get("/operations") }));
await app.close();
`;

interface Served {
  readonly text: string;
  readonly policy?: string;
}

it("the account pages and the operations page have their scripts in an application that was bundled into one file", async () => {
  const { account, operations } = (await runBundled(APP)) as Record<"account" | "operations", Served>;
  const [, inline = ""] = /<script>([^]*)<\/script>/.exec(operations.text) ?? [];
  const hash = createHash("sha256").update(inline).digest("base64");

  expect(account.text).toContain("/passkeys/sign-in/options");
  expect(inline).toContain("Not refreshed: ");
  expect(operations.policy).toContain(`script-src 'sha256-${hash}'`);
  for (const code of [account.text, inline]) expect(() => new Script(code)).not.toThrow();
});
