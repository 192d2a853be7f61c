import { randomBytes } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Browser, chromium } from "playwright-core";
import { buildIde } from "../scripts/build-ide.ts";
import { root } from "../scripts/package/repository.ts";
import { FOLDER, fingerprint, INPUTS, type PictureName, RECORD } from "./pictures/inputs.ts";
import { type PicturedShop, scenes } from "./pictures/scenes.ts";
import type { RollingServerSettings } from "./rolling/server.ts";
import { Child } from "./servers/child.ts";
import { forgetKeys } from "./servers/forget-keys.ts";
import { ownPostgres } from "./servers/own-postgres.ts";

// npm run pictures: takes the pictures of the documentation, in light and dark, from the running bookshop.
// npm run pictures -- shop editor: takes some of them. Needs PostgreSQL, Redis and Chromium.

const SIZE = { width: 1_240, height: 800 };
const QUALITY = 82;
const TIMEOUT_MS = 240_000;
const REDIS = process.env["REDIS_URL"] ?? "redis://127.0.0.1:6379";

const all = Object.keys(INPUTS) as readonly PictureName[];
const asked = process.argv.slice(2);
const unknown = asked.find((name) => !(all as readonly string[]).includes(name));
if (unknown !== undefined) throw new Error(`there is no picture "${unknown}": ${all.join(", ")}`);
const names = all.filter((name) => asked.length === 0 || asked.includes(name));

await buildIde();
const prefix = `pictures_${randomBytes(6).toString("hex")}`;
const primary = await ownPostgres();
const replica = await ownPostgres([], primary);
const settings: RollingServerSettings = {
  seed: { books: 200, users: 10 },
  app: { load: { maxWaitMs: 60_000, maxEventLoopDelayMs: 60_000 } },
  hasSlowRoute: false,
};
const child = new Child(
  new URL("rolling/server.ts", import.meta.url),
  settings,
  ["--no-warnings", "--import", new URL("../examples/bookshop/test/doors.mjs", import.meta.url).href],
  { DATABASE_URL: primary.url, REPLICA_URLS: replica.url, REDIS_URL: REDIS, REDIS_PREFIX: prefix },
);
const executablePath = process.env["PORTICO_CHROMIUM"] ?? "/usr/bin/chromium";
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
try {
  const url = `http://127.0.0.1:${await child.hear<number>("port")}`;
  await mkdir(join(root, FOLDER), { recursive: true });
  for (const name of names) await take(browser, name, { url, crashReplica: () => replica.kill() });
} finally {
  await browser.close();
  child.kill();
  await Promise.all([replica.remove(), primary.remove(), forgetKeys(REDIS, prefix)]);
}

async function take(browser: Browser, name: PictureName, shop: PicturedShop): Promise<void> {
  // A file may change while the picture is taken.
  const inputs = fingerprint(name);
  const page = await browser.newPage({ viewport: SIZE });
  page.setDefaultTimeout(TIMEOUT_MS);
  try {
    const session = await page.context().newCDPSession(page);
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      await scenes[name](page, shop);
      // Colours fade into each other.
      await page.waitForTimeout(500);
      const { data } = await session.send("Page.captureScreenshot", { format: "webp", quality: QUALITY });
      await writeFile(join(root, FOLDER, `${name}-${colorScheme}.webp`), Buffer.from(data, "base64"));
    }
    await record(name, inputs);
    console.log(`took ${name}`);
  } finally {
    await page.close();
  }
}

async function record(name: PictureName, inputs: string): Promise<void> {
  const file = join(root, RECORD);
  const before = JSON.parse(await readFile(file, "utf8").catch(() => "{}")) as Record<string, string>;
  const after = { ...before, [name]: inputs };
  const inOrder = Object.fromEntries(Object.entries(after).toSorted(([a], [b]) => a.localeCompare(b)));
  await writeFile(file, `${JSON.stringify(inOrder, null, 2)}\n`);
}
