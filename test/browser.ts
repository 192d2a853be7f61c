import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { inject, onTestFinished } from "vitest";

const address = inject("browser");

/** Where there is no browser, tests that need one are left out. In CI the run fails before the first of them. */
export const isBrowserMissing: boolean = address === null;

let connected: Promise<Browser> | undefined;

/** The browser that all test files share. A page in a context of its own shares nothing with other pages. */
function sharedBrowser(): Promise<Browser> {
  if (address === null) throw new Error("there is no browser: install Chromium or set PORTICO_CHROMIUM");
  connected ??= chromium.connect(address);
  return connected;
}

/** A page that reaches one server and nothing else. */
export interface Visit {
  readonly page: Page;
  /** Addresses of other servers that it asked for. */
  readonly elsewhere: string[];
  /** Errors and warnings in its console. */
  readonly complaints: string[];
  /** Violations of the content security policy. */
  readonly violations: string[];
  /** Keeps a picture for people, in a folder that git ignores. */
  readonly picture: (name: string) => Promise<void>;
}

/**
 * Opens an empty page until the test ends. Names are not resolved, so that nothing can leave even unseen.
 *
 * @param others further servers that it may reach, on `localhost` or 127.0.0.1
 */
export async function visit(
  server: string,
  options: BrowserContextOptions = {},
  others: readonly string[] = [],
): Promise<Visit> {
  const context = await (await sharedBrowser()).newContext({ viewport: { width: 1280, height: 800 }, ...options });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  const [elsewhere, complaints, violations]: [string[], string[], string[]] = [[], [], []];
  await page.exposeFunction("reportViolation", (text: string) => violations.push(text));
  await page.addInitScript(
    'addEventListener("securitypolicyviolation", (event) => reportViolation(event.violatedDirective + " " + event.blockedURI))',
  );
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(error.message));
  await page.route("**", (route) => {
    const address = route.request().url();
    if ([server, ...others].some((allowed) => address.startsWith(`${allowed}/`)) || /^(?:data|blob):/.test(address))
      return route.continue();
    elsewhere.push(address);
    return route.abort();
  });
  return {
    page,
    elsewhere,
    complaints,
    violations,
    async picture(name) {
      // Playwright makes the folder.
      await page.screenshot({ path: `${PICTURES}/${name}.png`, fullPage: true });
    },
  };
}

const PICTURES = new URL("../.cache/pictures", import.meta.url).pathname;
