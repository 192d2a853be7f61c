import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { codeAt } from "../../../scripts/clients/authenticator-app.ts";
import { isBrowserMissing } from "../../browser.ts";
import { focusedAlert, type PageBrowser, pageBrowser, person } from "./page-browser.ts";

/** What has the focus, as a screen reader names it, and whether people can see that it has it. */
const FOCUSED = `(() => {
  const one = document.activeElement;
  const { outlineStyle, outlineWidth } = getComputedStyle(one);
  const label = one.labels?.[0]?.textContent ?? one.getAttribute("aria-label") ?? one.textContent;
  return { name: label.trim(), isVisible: outlineStyle !== "none" && outlineWidth !== "0px" };
})()`;

/** Presses Tab until a control has the focus. Each one on the way must show that it has it. */
async function tabTo(page: Page, name: string): Promise<void> {
  for (let presses = 0; presses < 60; presses++) {
    const focused = await page.evaluate<{ name: string; isVisible: boolean }>(FOCUSED);
    if (focused.name === name) return;
    await page.keyboard.press("Tab");
    const next = await page.evaluate<{ name: string; isVisible: boolean }>(FOCUSED);
    // After the last control, the focus is in the window of the browser.
    if (next.name.length < 80) expect(next).toEqual({ name: next.name, isVisible: true });
  }
  throw new Error(`Tab does not reach ${name}`);
}

async function type(page: Page, fields: Readonly<Record<string, string>>): Promise<void> {
  for (const [label, value] of Object.entries(fields)) {
    await tabTo(page, label);
    await page.keyboard.type(value);
  }
  await page.keyboard.press("Enter");
}

async function activate(page: Page, name: string): Promise<void> {
  await tabTo(page, name);
  await page.keyboard.press("Enter");
}

async function signUpAndIn({ page, open }: PageBrowser): Promise<void> {
  await open("/sign-in");
  await activate(page, "Create an account");
  await page.getByRole("heading", { name: "Create an account" }).waitFor();
  await type(page, { "Email address": person.email, "Username (optional)": "ann", Password: person.password });
  await page.getByText("You can sign in now.").waitFor();
  await activate(page, "Sign in");
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  await type(page, { "Email address or username": person.email, Password: person.password });
  await page.getByText("This device").waitFor();
}

async function confirmAddress({ page, mails }: PageBrowser): Promise<void> {
  await activate(page, "Send me a code to confirm my email address");
  await expect.poll(() => mails.at(-1)?.kind).toBe("verify");
  await type(page, { "Code from the email": mails.at(-1)?.code ?? "" });
  await page.locator("#address:focus").waitFor();
}

const CODE = "Code from your authenticator app, or a recovery code";

describe.skipIf(isBrowserMissing)("the account pages by keyboard alone", { timeout: 120_000 }, () => {
  it("sign up, add an authenticator app, prove it on the page for it, and recover with a code", async () => {
    const browser = await pageBrowser();
    const { page, open, home, violations } = browser;
    await signUpAndIn(browser);

    await open("/step-up?error=second_factor_required&next=/payout");
    await page.getByText("your account has none").waitFor();
    await activate(page, "Go to your account");
    await page.getByText("This device").waitFor();
    await confirmAddress(browser);
    await activate(page, "Set up an authenticator app");
    await page.locator("#totp-confirm-code:focus").waitFor();
    const key = (await page.locator("#totp-key").textContent()) ?? "";
    await type(page, { Code: codeAt(key, Date.now()) });
    await page.locator("#recovery-title:focus").waitFor();
    const codes = await page.locator("#recovery-list li").allTextContents();
    // A session that has just set up the app has two factors. A new one has one.
    await activate(page, "Sign out");
    await page.waitForURL("**/sign-in");

    await type(page, { "Email address or username": person.email, Password: person.password });
    await page.getByLabel(CODE).waitFor();
    await type(page, { [CODE]: "000000" });
    expect(await focusedAlert(page)).toBe("Incorrect code.");
    await page.getByLabel(CODE).fill("");
    await type(page, { [CODE]: codeAt(key, Date.now() + 30_000) });
    await page.waitForURL("**/account");

    await open("/step-up?error=sign_in_again&next=/payout");
    await page.getByLabel(CODE).waitFor();
    await type(page, { [CODE]: codes[0] ?? "" });
    await page.waitForURL(`${home}/payout`);
    expect(await page.locator("body").textContent()).toContain("paid");
    expect(violations).toEqual([]);
  });

  it("add a passkey, sign in with it, and prove it on the page for it", async () => {
    const browser = await pageBrowser({ freshSeconds: 600 });
    const { page, open, home, violations } = browser;
    await signUpAndIn(browser);
    await confirmAddress(browser);
    await type(page, { "Name of the new passkey (optional)": "Laptop" });
    await page.locator("#passkeys-list strong").waitFor();
    await activate(page, "Sign out");
    await page.waitForURL("**/sign-in");

    await activate(page, "Sign in with a passkey");
    await page.waitForURL("**/account");
    await open("/step-up?error=sign_in_again&next=/payout");
    await page.getByRole("button", { name: "Continue with a passkey" }).waitFor();
    await activate(page, "Continue with a passkey");
    await page.waitForURL(`${home}/payout`);
    expect(violations).toEqual([]);
  });

  it("sign in again with the password on the page for it", async () => {
    const browser = await pageBrowser({ freshSeconds: 1 });
    const { page, open, home } = browser;
    await signUpAndIn(browser);
    await open("/step-up?error=sign_in_again&next=/orders");
    await page.getByLabel("Password").waitFor();
    await type(page, { Password: "wrong" });
    expect(await focusedAlert(page)).toBe("Incorrect username or password.");
    await page.getByLabel("Password").fill("");
    await type(page, { Password: person.password });
    await page.waitForURL(`${home}/orders`);
  });
});
