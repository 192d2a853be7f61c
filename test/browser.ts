import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { onTestFinished } from "vitest";

const executablePath = process.env["PORTICO_CHROMIUM"] ?? "/usr/bin/chromium";

/** Where there is no browser, tests that need one are left out; in CI that is a failure, which the launch explains. */
export const isBrowserMissing: boolean = !existsSync(executablePath) && process.env["CI"] === undefined;

/** A page that reaches one server and nothing else. */
export interface Visit {
  readonly page: Page;
  /** Addresses of other servers that it asked for. */
  readonly elsewhere: string[];
  /** Errors and warnings in its console. */
  readonly complaints: string[];
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
  const browser = await chromium.launch({ executablePath, args: ARGS });
  onTestFinished(() => browser.close());
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, ...options });
  page.setDefaultTimeout(30_000);
  const [elsewhere, complaints]: [string[], string[]] = [[], []];
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
    async picture(name) {
      await mkdir(PICTURES, { recursive: true });
      await page.screenshot({ path: `${PICTURES}/${name}.png` });
    },
  };
}

const PICTURES = new URL("../.cache/pictures", import.meta.url).pathname;

// Without these Chromium calls home by itself.
const ARGS = [
  ...`--no-sandbox --disable-gpu --disable-quic --no-first-run
  --disable-background-networking --disable-component-update --disable-sync`.split(/\s+/),
  "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
];
