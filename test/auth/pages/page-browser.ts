import type { Page } from "playwright-core";
import { PorticoApp } from "portico";
import { type AuthenticationOptions, authentication, type Mail, useAuth } from "portico/auth";
import { expect, onTestFinished } from "vitest";
import { visit } from "../../browser.ts";
import { secret } from "../accounts/account-harness.ts";
import { memoryUsers } from "../accounts/memory-users.ts";

export interface PageBrowser {
  readonly page: Page;
  readonly home: string;
  readonly mails: readonly Mail[];
  /** Violations of the content security policy, which each test expects to be none. */
  readonly violations: readonly string[];
  /** Addresses of other servers that a page asked for. */
  readonly elsewhere: readonly string[];
  /** Opens a page of the application. */
  readonly open: (path: string) => Promise<void>;
  /** Fills fields by their label, and presses Enter in the last one. */
  readonly fill: (fields: Readonly<Record<string, string>>) => Promise<void>;
  readonly press: (button: string) => Promise<void>;
  readonly picture: (name: string) => Promise<void>;
}

export const person = { email: "ann@example.org", password: "correct horse battery staple" };

/**
 * Starts an application with its account pages and opens a browser with an authenticator that needs no
 * hands. On every page that the test opens, each control must have a name.
 *
 * @param others further servers that the browser may reach
 */
export async function pageBrowser(
  options: Partial<AuthenticationOptions> = {},
  others: readonly string[] = [],
  host = "localhost",
): Promise<PageBrowser> {
  const mails: Mail[] = [];
  const app = new PorticoApp({ title: "Bookshop", logger: false })
    .use(
      authentication({
        userModel: memoryUsers(),
        secret,
        audience: "bookshop",
        mailer: async (mail) => void mails.push(mail),
        passkeys: { rpName: "The bookshop" },
        pages: true,
        ...options,
      }),
    )
    .get("/orders", ({ response }) => response.html('<!doctype html><link rel="icon" href="data:,"><h1>Orders</h1>'))
    .get("/payout", { auth: useAuth({ level: "mfa" }) }, () => "paid");
  const { url } = await app.listen({ port: 0 });
  onTestFinished(() => app.close());
  const home = url.replace("127.0.0.1", host);
  const { page, picture, elsewhere, violations } = await visit(home, {}, others);
  await addAuthenticator(page);
  return {
    page,
    home,
    mails,
    violations,
    elsewhere,
    picture,
    open: async (path) => {
      await page.goto(home + path);
      await expectNamedControls(page);
    },
    fill: async (fields) => {
      for (const [label, value] of Object.entries(fields)) await page.getByLabel(label, { exact: true }).fill(value);
      await page.keyboard.press("Enter");
    },
    press: (name) => page.getByRole("button", { name, exact: true }).click(),
  };
}

export async function addAuthenticator(page: Page): Promise<void> {
  const devices = await page.context().newCDPSession(page);
  await devices.send("WebAuthn.enable");
  await devices.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
}

/** Every control in the accessibility tree has a name, and the page a title and one main heading. */
export async function expectNamedControls(page: Page): Promise<void> {
  const tree = await page.locator("body").ariaSnapshot();
  const controls = tree.split("\n").filter((line) => /^\s*- (?:button|textbox|checkbox|link|img|region)\b/.test(line));
  expect(controls.filter((line) => !/^\s*- \w+ (?:"|\/)/.test(line))).toEqual([]);
  expect(tree.match(/heading .*\[level=1\]/g)).toHaveLength(1);
  expect(await page.title()).not.toBe("");
}

/** The message that has the focus. */
export async function focusedAlert(page: Page): Promise<string> {
  await page.waitForSelector('[role="alert"]:focus');
  return (await page.locator('[role="alert"]:focus').textContent()) ?? "";
}
