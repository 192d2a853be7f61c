import { oidc } from "portico/auth";
import { describe, expect, it } from "vitest";
import { codeAt } from "../../../scripts/clients/authenticator-app.ts";
import { isBrowserMissing } from "../../browser.ts";
import { expectFinished } from "../../looks.ts";
import { focusedAlert, type PageBrowser, pageBrowser, person } from "./page-browser.ts";

const acme = oidc({ name: "acme", issuer: "https://login.acme.com", clientId: "shop", clientSecret: "secret" });
const all = { providers: [acme], signInMails: true } as const;

async function signUp({ open, fill, page }: PageBrowser): Promise<void> {
  await open("/register");
  await fill({ "Email address": person.email, "Username (optional)": "ann", Password: person.password });
  await page.getByText("You can sign in now.").waitFor();
}

async function signIn({ open, fill, page }: PageBrowser): Promise<void> {
  await open("/sign-in");
  await fill({ "Email address or username": person.email, Password: person.password });
  await page.getByText("This device").waitFor();
}

async function confirmAddress({ page, press, mails, fill }: PageBrowser): Promise<void> {
  await press("Send me a code to confirm my email address");
  await page.getByText("Request received.").waitFor();
  while (mails.at(-1)?.kind !== "verify") await page.waitForTimeout(20);
  await fill({ "Code from the email": mails.at(-1)?.code ?? "" });
  await page.locator("#address:focus").waitFor();
}

// Pictures of all states: .cache/pictures/pages.
describe.skipIf(isBrowserMissing)("every state of the account pages", { timeout: 240_000 }, () => {
  it("looks finished and is accessible before a sign-in", async () => {
    const browser = await pageBrowser(all);
    const { page, open, fill, press, violations, elsewhere } = browser;
    const expectLook = (state: string): Promise<void> => expectFinished(browser, state);

    await open("/register");
    await expectLook("register");
    await fill({ "Email address": person.email, Password: "password" });
    await focusedAlert(page);
    await expectLook("register-error");
    await signUp(browser);
    await expectLook("register-done");

    await open("/sign-in");
    await expectLook("sign-in");
    await open("/sign-in?error=provider_link_required");
    await expectLook("sign-in-notice");
    await page.getByLabel("Email address", { exact: true }).fill(person.email);
    await press("Send me an email");
    await page.locator("#sign-in-code-code:focus").waitFor();
    await expectLook("sign-in-mail-sent");
    for (let attempt = 0; attempt < 6; attempt++) {
      await fill({ "Email address or username": person.email, Password: `wrong ${attempt}` });
      await focusedAlert(page);
      if (attempt === 0) await expectLook("sign-in-error");
    }
    await page.getByText("Too many attempts.").waitFor();
    await expectLook("sign-in-rate-limited");

    for (const path of ["/reset-password", "/verify-email"]) {
      await open(path);
      await expectLook(`${path.slice(1)}-request`);
    }
    await fill({ "Email address": person.email });
    await page.getByText("Request received.").waitFor();
    await expectLook("verify-email-sent");
    for (const path of ["/reset-password", "/verify-email", "/change-email", "/sign-in-link"]) {
      await open(`${path}?token=expired`);
      await expectLook(path.slice(1));
      const field = page.getByLabel("New password");
      if ((await field.count()) > 0) await field.fill("a different long password");
      await page.locator("form button").first().click();
      await focusedAlert(page);
      await expectLook(`${path.slice(1)}-expired`);
    }
    expect([...violations, ...elsewhere]).toEqual([]);
  });

  it("looks finished and is accessible after a sign-in", async () => {
    const browser = await pageBrowser(all);
    const { page, open, fill, press, violations, elsewhere } = browser;
    const expectLook = (state: string): Promise<void> => expectFinished(browser, state);
    await signUp(browser);
    await signIn(browser);
    await page.getByText("No passkeys yet.").waitFor();
    await expectLook("account-empty");
    await page.getByLabel("Current password").fill("wrong");
    await fill({ "New password": "a different long password" });
    await focusedAlert(page);
    await expectLook("account-error");
    await open("/step-up?error=second_factor_required&next=/payout");
    await page.getByText("your account has none").waitFor();
    await expectLook("step-up-no-factor");
    await open("/step-up?error=sign_in_again&next=/payout");
    await page.getByLabel("Password").waitFor();
    await expectLook("step-up-password");

    await open("/account");
    await confirmAddress(browser);
    await press("Set up an authenticator app");
    await page.locator("#totp-key").waitFor();
    await expectLook("account-app");
    const key = (await page.locator("#totp-key").textContent()) ?? "";
    await fill({ Code: codeAt(key, Date.now()) });
    await page.locator("#recovery-title:focus").waitFor();
    await fill({ "Name of the new passkey (optional)": "Laptop" });
    await page.locator("#passkeys-list strong").waitFor();
    await expectLook("account-recovery-codes");

    await open("/step-up?error=second_factor_required&next=/payout");
    await page.getByRole("button", { name: "Continue with a passkey" }).waitFor();
    await expectLook("step-up-code");
    await fill({ "Code from your authenticator app, or a recovery code": "000000" });
    await focusedAlert(page);
    await expectLook("step-up-error");

    await page.context().clearCookies();
    await open("/sign-in");
    await fill({ "Email address or username": person.email, Password: person.password });
    await page.getByRole("heading", { name: "Second factor" }).waitFor();
    await expectLook("second-factor");
    await fill({ "Code from your authenticator app, or a recovery code": "000000" });
    await focusedAlert(page);
    await expectLook("second-factor-error");
    expect([...violations, ...elsewhere]).toEqual([]);
  });
});
