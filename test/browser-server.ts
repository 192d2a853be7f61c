import { existsSync } from "node:fs";
import { chromium } from "playwright-core";
import type { TestProject } from "vitest/node";
import { buildIde } from "../scripts/build-ide.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The address of the browser, or `null` where none is installed. */
    browser: string | null;
  }
}

// Without these Chromium calls home by itself.
const ARGS = [
  ...`--no-sandbox --disable-gpu --disable-quic --no-first-run
  --disable-background-networking --disable-component-update --disable-sync`.split(/\s+/),
  "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
];

/** Bundles the explorer, unless that was done already, and starts one browser for all test files. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  await buildIde();
  const executablePath = process.env["PORTICO_CHROMIUM"] ?? "/usr/bin/chromium";
  // Where there is no browser, tests that need one are left out; in CI the launch fails and says why.
  if (!existsSync(executablePath) && process.env["CI"] === undefined) {
    project.provide("browser", null);
    return async () => {};
  }
  const server = await chromium.launchServer({ executablePath, args: ARGS });
  project.provide("browser", server.wsEndpoint());
  return () => server.close();
}
