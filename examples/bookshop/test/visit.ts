import { mkdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, onTestFinished } from "vitest";

const executablePath = process.env["PORTICO_CHROMIUM"] ?? "/usr/bin/chromium";
const PICTURES = fileURLToPath(new URL("../.cache/pictures/", import.meta.url));

/** A visitor with a separate browser context. */
export interface Visitor {
  readonly page: Page;
  /** Console errors and uncaught exceptions. */
  readonly complaints: readonly string[];
  /** Gives the browser an authenticator for passkeys that needs no hands. */
  readonly addAuthenticator: () => Promise<void>;
  /** Saves a screenshot in a folder that git ignores. */
  readonly picture: (name: string) => Promise<void>;
}

/** The screen of a visitor. */
export interface Screen {
  /** @default 1280 */
  readonly width?: number;
  readonly colorScheme?: "light" | "dark";
}

const AUTHENTICATOR = {
  protocol: "ctap2",
  transport: "internal",
  hasResidentKey: true,
  hasUserVerification: true,
  isUserVerified: true,
  automaticPresenceSimulation: true,
} as const;

let launched: Promise<Browser> | undefined;

afterAll(async () => (await launched)?.close());

/** Opens an empty page until the test ends. Where there is no browser, the test fails. */
export async function visit({ width = 1280, colorScheme = "light" }: Screen = {}): Promise<Visitor> {
  launched ??= chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
  const context = await (await launched).newContext({ viewport: { width, height: 900 }, colorScheme });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  page.setDefaultTimeout(45_000);
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error") complaints.push(message.text());
  });
  return {
    page,
    complaints,
    async addAuthenticator() {
      const devices = await page.context().newCDPSession(page);
      await devices.send("WebAuthn.enable");
      await devices.send("WebAuthn.addVirtualAuthenticator", { options: AUTHENTICATOR });
    },
    async picture(name) {
      await mkdir(PICTURES, { recursive: true });
      await page.screenshot({ path: `${PICTURES}${name}.png` });
    },
  };
}
