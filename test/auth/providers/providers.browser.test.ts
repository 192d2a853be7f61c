import { oidc } from "portico/auth";
import { describe, expect, it } from "vitest";
import { isBrowserMissing, visit } from "../../browser.ts";
import { shop } from "./provider-harness.ts";
import { clientId, clientSecret, realProvider } from "./real-provider.ts";

const page = '<!doctype html><form method="post"><button>Sign in as Ann</button></form>';

// A browser may start slowly on a busy machine.
describe.skipIf(isBrowserMissing)("in Chromium", { timeout: 240_000 }, () => {
  it("a person signs in at a provider on another site, comes back signed in, and signs in again at once", async () => {
    const real = await realProvider("localhost", page);
    const { url } = await shop([oidc({ name: "acme", issuer: real.issuer, clientId, clientSecret })]);
    real.serve(url);
    const { page: tab } = await visit(url, {}, [real.issuer]);

    await tab.goto(`${url}/account/providers/acme?return_to=/orders`);
    expect(new URL(tab.url()).origin).toBe(real.issuer);
    await tab.getByRole("button", { name: "Sign in as Ann" }).click();
    await tab.waitForURL(`${url}/orders`);

    const me = await tab.evaluate('fetch("/account/me").then((response) => response.json())');
    expect(me).toMatchObject({ email: "ann@acme.com", email_verified: true });
    expect(await tab.evaluate("document.cookie")).toBe("");
    const out = await tab.evaluate('fetch("/account/logout", { method: "POST" }).then((response) => response.status)');
    expect(out).toBe(204);
    await tab.goto(`${url}/account/providers/acme?return_to=/settings`);
    await tab.waitForURL(`${url}/settings`);
    expect(await tab.evaluate('fetch("/account/me").then((response) => response.status)')).toBe(200);
  });
});
