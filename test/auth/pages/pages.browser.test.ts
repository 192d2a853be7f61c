import type { Page } from "playwright-core";
import { type Mail, oidc } from "portico/auth";
import { describe, expect, it } from "vitest";
import { codeAt } from "../../../scripts/clients/authenticator-app.ts";
import { isBrowserMissing } from "../../browser.ts";
import { memoryUsers } from "../accounts/memory-users.ts";
import { clientId, clientSecret, realProvider } from "../providers/real-provider.ts";
import { expectNamedControls, focusedAlert, type PageBrowser, pageBrowser, person } from "./page-browser.ts";

const HOSTILE = "<img src=x onerror=alert(1)>";

async function register({ open, fill, page }: PageBrowser, username = "ann"): Promise<void> {
  await open("/register");
  await fill({ "Email address": person.email, "Username (optional)": username, Password: person.password });
  await page.getByText("You can sign in now.").waitFor();
}

/** Types the code of the email on the account page. */
async function confirmAddress({ page, press, mails }: PageBrowser): Promise<void> {
  await press("Send me a code to confirm my email address");
  await expect.poll(() => mails.at(-1)?.kind).toBe("verify");
  await page.getByLabel("Code from the email").fill(mails.at(-1)?.code ?? "");
  await press("Confirm my email address");
  await page.locator("#address:focus").waitFor();
  expect(await page.locator("#address").textContent()).toBe(person.email);
}

async function signIn({ open, fill }: PageBrowser, path = "/sign-in", password = person.password): Promise<void> {
  await open(path);
  await fill({ "Email address or username": person.email, Password: password });
}

/** Signs out once the account page has shown everything: a request under way would be rejected, and lead to another address. */
async function signOut({ page, press }: PageBrowser): Promise<void> {
  const loaded = 'performance.getEntriesByType("resource").map(({ name }) => new URL(name).pathname)';
  const last = expect.arrayContaining(["/account/sessions", "/account/passkeys"]) as string[];
  await expect.poll(() => page.evaluate(loaded)).toEqual(last);
  await press("Sign out");
  await page.waitForURL("**/sign-in");
}

/** Where the page continues after a sign-in, as the link to a provider says it. */
async function returnTo(page: Page): Promise<string | null> {
  await page.evaluate('addEventListener("click", (event) => event.preventDefault())');
  const link = page.getByText("Sign in with Acme");
  await link.click();
  return new URL((await link.getAttribute("href")) ?? "", page.url()).searchParams.get("return_to");
}

// A browser may start slowly on a busy machine.
describe.skipIf(isBrowserMissing)("the account pages in Chromium", { timeout: 120_000 }, () => {
  it("[auth:AU-281] register and sign in by keyboard alone, and show a hostile name as text", async () => {
    const browser = await pageBrowser({ userModel: hostileUsers(), freshSeconds: 1 });
    const { page, open, press, violations } = browser;
    await register(browser);

    await open("/sign-in");
    const type = async (text: string): Promise<void> => {
      await page.keyboard.type(text);
      await page.keyboard.press("Tab");
    };
    await type(person.email);
    await type("wrong password");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    expect(await focusedAlert(page)).toMatch(/^Incorrect/);
    expect(await page.getByLabel("Password").getAttribute("aria-describedby")).toBe("login-error");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Tab");
    await page.keyboard.type(person.password);
    await page.keyboard.press("Enter");

    await page.waitForURL("**/account");
    await page.getByText("This device").waitFor();
    await expectNamedControls(page);
    expect(await page.locator("#who").textContent()).toBe(HOSTILE);
    expect(await page.locator("main img:not([alt])").count()).toBe(0);

    await page.waitForTimeout(1_100);
    await press("Set up an authenticator app");
    await page.waitForURL("**/step-up?error=sign_in_again&next=%2Faccount");
    await page.getByText(`Signed in as ${HOSTILE}`).waitFor();
    expect(violations).toEqual([]);
  });

  it("[auth:AU-282] continue only at a path of this site after a sign-in", async () => {
    const acme = oidc({ name: "acme", issuer: "https://login.acme.com", clientId: "shop", clientSecret: "secret" });
    const browser = await pageBrowser({ providers: [acme] });
    const { page, home, open, violations } = browser;
    await register(browser);

    await signIn(browser, "/sign-in?next=/orders");
    await page.waitForURL(`${home}/orders`);
    for (const hostile of [
      "//evil.example",
      "/\\evil.example",
      "https://evil.example",
      "javascript:alert(1)",
      "/\t/evil.example",
      "/\n/evil.example",
      " //evil.example",
      "orders",
    ]) {
      await open(`/sign-in?next=${encodeURIComponent(hostile)}`);
      expect([hostile, await returnTo(page)]).toEqual([hostile, "/account"]);
      await open(`/sign-in#return_to=${encodeURIComponent(hostile)}`);
      expect([hostile, await returnTo(page)]).toEqual([hostile, "/account"]);
    }
    await open("/sign-in?next=/.//evil.example");
    expect(new URL((await returnTo(page)) ?? "", page.url()).origin).toBe(home);
    await open(`/sign-in?error=${encodeURIComponent(HOSTILE)}`);
    expect(await focusedAlert(page)).toBe("Signing in failed. Try again.");
    expect(violations).toEqual([]);
  });

  it("[auth:AU-283] set up an authenticator app, and sign in with its code and with a recovery code", async () => {
    const browser = await pageBrowser();
    const { page, open, fill, press, violations } = browser;
    await register(browser);
    await signIn(browser);

    await press("Set up an authenticator app");
    await page.locator("#totp-key").waitFor();
    await fill({ Code: codeAt((await page.locator("#totp-key").textContent()) ?? "", Date.now()) });
    expect(await focusedAlert(page)).toBe("Confirm your email address first.");
    await confirmAddress(browser);
    await open("/account");
    await press("Set up an authenticator app");
    await expect.poll(() => page.evaluate('document.getElementById("totp-qr").naturalWidth')).toBeGreaterThan(0);
    const key = await page.locator("#totp-key").textContent();
    await expectNamedControls(page);
    await fill({ Code: codeAt(key ?? "", Date.now()) });
    await page.locator("#recovery-title:focus").waitFor();
    const codes = await page.locator("#recovery-list li").allTextContents();
    expect(codes).toHaveLength(10);
    await page.getByText(/^Set up on/).waitFor();
    await signOut(browser);

    await signIn(browser, "/sign-in?next=/orders");
    const CODE = "Code from your authenticator app, or a recovery code";
    await page.getByLabel(CODE).waitFor();
    expect(await page.title()).toBe("Second factor");
    expect(page.url()).not.toContain("pending");
    expect(await page.getByRole("button", { name: "Use a passkey" }).count()).toBe(0);
    await fill({ [CODE]: "000000" });
    expect(await focusedAlert(page)).toMatch(/code/i);
    await fill({ [CODE]: codeAt(key ?? "", Date.now() + 30_000) });
    await page.waitForURL("**/orders");
    expect(await page.evaluate('fetch("/payout").then(({ status }) => status)')).toBe(200);

    await open("/account");
    await signOut(browser);
    await signIn(browser);
    await fill({ [CODE]: codes[0] ?? "" });
    await page.waitForURL("**/account");
    await page.getByText("Unused recovery codes: 9").waitFor();
    expect(violations).toEqual([]);
  });

  it("[auth:AU-284] add, rename and remove a passkey, and sign in with it, alone and as second factor", async () => {
    const browser = await pageBrowser();
    const { page, fill, press, open, violations } = browser;
    await register(browser);
    await signIn(browser);

    await page.getByText("This device").waitFor();
    await confirmAddress(browser);
    await fill({ "Name of the new passkey (optional)": HOSTILE });
    await page.locator("#recovery-list li").first().waitFor();
    await page.locator("#passkeys-list strong").getByText(HOSTILE, { exact: true }).waitFor();
    page.once("dialog", (dialog) => void dialog.accept("Laptop"));
    await press(`Rename ${HOSTILE}`);
    await page.getByText("The passkey was renamed.").waitFor();
    await signOut(browser);

    await signIn(browser);
    await press("Use a passkey");
    await page.waitForURL("**/account");
    await signOut(browser);

    await press("Sign in with a passkey");
    await page.waitForURL("**/account");
    await press("Remove Laptop");
    await page.locator("#passkeys-status:focus").waitFor();
    expect(await page.locator("#passkeys-list li").count()).toBe(0);

    await open("/sign-in");
    await press("Sign in with a passkey");
    expect(await focusedAlert(page)).not.toBe("");
    expect(violations).toEqual([]);
  });

  it("[auth:AU-285] reset a password by link, end the session of a device, and sign in by email", async () => {
    const browser = await pageBrowser({ signInMails: true });
    const { page, home, open, fill, press, mails, violations } = browser;
    await register(browser);
    await open("/reset-password");
    await fill({ "Email address": person.email });
    await expect.poll(() => mails.at(-1)?.kind).toBe("reset");

    await open(pathOf(mails.at(-1)));
    expect(page.url()).toBe(`${home}/reset-password`);
    await fill({ "New password": "short" });
    expect(await focusedAlert(page)).toMatch(/password/i);
    await fill({ "New password": "a different long password" });
    await page.getByText("Your password was changed.").waitFor();

    await page.request.post(`${home}/account/login`, {
      data: { identifier: person.email, password: "a different long password" },
    });
    await page.context().clearCookies();
    await signIn(browser, "/sign-in", "a different long password");
    await page.getByRole("button", { name: /^Sign out (?!on all)./ }).click();
    await page.locator("#sessions-status:focus").waitFor();
    expect(await page.locator("#sessions-list li").count()).toBe(1);
    await signOut(browser);

    await fill({ "Email address": person.email });
    await page.locator("#sign-in-code-code:focus").waitFor();
    await expect.poll(() => mails.at(-1)?.kind).toBe("sign_in");
    await fill({ "Code from the email": mails.at(-1)?.code ?? "" });
    await page.waitForURL("**/account");

    await page.getByText("This device").waitFor();
    await fill({ "New email address": "ann@new.example" });
    await expect.poll(() => mails.at(-1)?.kind).toBe("change_email");
    await open(pathOf(mails.at(-1)));
    await press("Change my email address");
    await page.getByText("Your email address was changed.").waitFor();
    await press("Change my email address");
    expect(await focusedAlert(page)).toMatch(/link/i);
    expect(violations).toEqual([]);
  });

  it("[auth:AU-286] sign in with a provider, and link and unlink it", async () => {
    const real = await realProvider(
      "localhost",
      '<!doctype html><form method="post"><button>Sign in as Ann</button></form>',
    );
    const acme = oidc({ name: "acme", issuer: real.issuer, clientId, clientSecret });
    const browser = await pageBrowser({ providers: [acme] }, [real.issuer], "127.0.0.1");
    const { page, home, open, press, violations } = browser;
    real.serve(home);

    await open("/sign-in?next=/orders");
    await page.getByRole("link", { name: "Sign in with Acme" }).click();
    await press("Sign in as Ann");
    await page.waitForURL(`${home}/orders`);
    await open("/account");
    await press("Unlink Acme");
    expect(await focusedAlert(page)).not.toBe("");

    await page.context().clearCookies();
    await register(browser);
    await signIn(browser);
    await confirmAddress(browser);
    await press("Link Acme");
    await press("Sign in as Ann");
    await page.waitForURL(`${home}/account?error=provider_already_linked`);
    expect(await focusedAlert(page)).toMatch(/linked to another user/);
    expect(violations).toEqual([]);
  });
});

/** The path of the link in an email. */
function pathOf(mail: Mail | undefined): string {
  return (mail?.url ?? "").replace(/^http:\/\/[^/]*/, "");
}

/** Users whose names are HTML. */
function hostileUsers(): ReturnType<typeof memoryUsers> {
  const users = memoryUsers();
  return {
    ...users,
    objects: { ...users.objects, createUser: (input) => users.objects.createUser({ ...input, username: HOSTILE }) },
  };
}
