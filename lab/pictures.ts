import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { chromium } from "playwright-core";
import { shopTraffic, signedIn } from "./pictures/shop-traffic.ts";
import type { RollingServerSettings } from "./rolling/server.ts";
import { Child } from "./servers/child.ts";
import { forgetKeys } from "./servers/forget-keys.ts";
import { ownPostgres } from "./servers/own-postgres.ts";

// npm run pictures: takes the pictures of the operations page for the documentation. They show the bookshop under traffic, with a
// replica of its database that has just crashed. Needs PostgreSQL, Redis and Chromium.

const TRAFFIC_MS = 20_000;
/** Until the page shows the state after the crash. */
const CRASHED_MS = 8_000;
const SIZE = { width: 1_240, height: 900 };
const REDIS = process.env["REDIS_URL"] ?? "redis://127.0.0.1:6379";
const FOLDER = new URL("../docs/guide/", import.meta.url).pathname;

const prefix = `pictures_${randomBytes(6).toString("hex")}`;
const primary = await ownPostgres();
const replica = await ownPostgres([], primary);
const settings: RollingServerSettings = {
  seed: { books: 200, users: 10 },
  app: { load: { maxWaitMs: 60_000, maxEventLoopDelayMs: 60_000 } },
};
const child = new Child(
  new URL("rolling/server.ts", import.meta.url),
  settings,
  ["--no-warnings", "--import", new URL("../examples/bookshop/test/doors.mjs", import.meta.url).href],
  { DATABASE_URL: primary.url, REPLICA_URLS: replica.url, REDIS_URL: REDIS, REDIS_PREFIX: prefix },
);
const end = new AbortController();
try {
  const url = `http://127.0.0.1:${await child.hear<number>("port")}`;
  const traffic = shopTraffic(url, end.signal);
  await takePictures(url);
  end.abort();
  await traffic;
} finally {
  end.abort();
  child.kill();
  await Promise.all([replica.remove(), primary.remove(), forgetKeys(REDIS, prefix)]);
}

async function takePictures(url: string): Promise<void> {
  const executablePath = process.env["PORTICO_CHROMIUM"] ?? "/usr/bin/chromium";
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
  try {
    const page = await browser.newPage({ viewport: SIZE, extraHTTPHeaders: await signedIn(url, "admin") });
    await page.goto(`${url}/operations/page`);
    await sleep(TRAFFIC_MS);
    await replica.kill();
    await page.locator("#saturation li.fail").first().waitFor();
    await sleep(CRASHED_MS);
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      await page.screenshot({ path: `${FOLDER}operations-page-${colorScheme}.png` });
    }
  } finally {
    await browser.close();
  }
}
