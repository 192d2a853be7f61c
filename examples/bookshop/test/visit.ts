import { mkdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { chromium, type Page } from "playwright-core";
import { onTestFinished } from "vitest";

const executablePath = process.env["PORTICO_CHROMIUM"] ?? "/usr/bin/chromium";
const PICTURES = fileURLToPath(new URL("../.cache/pictures/", import.meta.url));

/** Somebody with a browser of their own. */
export interface Visitor {
  readonly page: Page;
  /** Errors in the console, and those that nobody caught. */
  readonly complaints: readonly string[];
  /** Keeps a picture for people to look at, in a folder that git ignores. */
  readonly picture: (name: string) => Promise<void>;
}

/** Opens an empty page until the test ends. Where there is no browser, the test fails. */
export async function visit(): Promise<Visitor> {
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
  onTestFinished(() => browser.close());
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  page.setDefaultTimeout(15_000);
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error") complaints.push(message.text());
  });
  return {
    page,
    complaints,
    async picture(name) {
      await mkdir(PICTURES, { recursive: true });
      await page.screenshot({ path: `${PICTURES}${name}.png` });
    },
  };
}
