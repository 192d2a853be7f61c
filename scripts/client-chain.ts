import { deepStrictEqual } from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { cpSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { Client } from "pg";
import { chromium } from "playwright-core";
import { createClient } from "redis";
import { chainPages } from "./snippets/chain-pages.ts";
import { pageSnippets } from "./snippets/snippets.ts";

// The way from an application to a front end: writes the types of the bookshop with `portico client`, compiles a front end of
// portico-client and gql.tada with TypeScript 6 and 7, bundles it, and runs it in Chromium against the shop. gql.tada does not
// install beside TypeScript 7, so it is in a separate package: run "npm ci --prefix tools/client-chain" first.
const root = join(import.meta.dirname, "..");
const shop = join(root, "examples/bookshop/src");
const tools = join(root, "tools/client-chain");
const generated = join(tools, "generated");
const node = (...args: readonly string[]): void =>
  void execFileSync(process.execPath, args, { cwd: root, stdio: "inherit" });
const doors = ["--no-warnings", "--import", "./examples/bookshop/test/doors.mjs"];
const compilers = [join(tools, "node_modules/typescript/bin/tsc"), join(root, "node_modules/typescript/bin/tsc")];

rmSync(generated, { recursive: true, force: true });
node(
  join(root, "node_modules/typescript/bin/tsc"),
  "-p",
  "packages/portico-client",
  "--outDir",
  join(generated, "portico-client"),
);
node(...doors, "src/cli/portico.ts", "client", "--config", "examples/bookshop/portico.config.ts", "--out", generated);
writeSnippets();
for (const compiler of compilers) {
  node(compiler, "--version");
  node(compiler, "-p", tools);
}
const { outputFiles } = await build({
  entryPoints: [join(tools, "front-end.ts")],
  alias: { "portico-client": join(generated, "portico-client/index.js") },
  bundle: true,
  format: "esm",
  write: false,
});
const script = outputFiles[0]?.text ?? "";

// The modules of the shop read these when they are first imported.
const databaseUrl = process.env["DATABASE_URL"] ?? "postgres://postgres@127.0.0.1:5432/test";
const redisUrl = process.env["REDIS_URL"] ?? "redis://127.0.0.1:6379";
const place = `client_chain_${randomBytes(6).toString("hex")}`;
process.env["DATABASE_URL"] = `${databaseUrl}?options=-c%20search_path%3D${place}`;
process.env["REDIS_PREFIX"] = place;
await inDatabase(`create schema ${place}`);
try {
  deepStrictEqual(await resultInBrowser(), {
    prices: 5,
    walked: 60,
    nodes: 60,
    me: "reader1",
    buyer: "reader1",
    orders: true,
    code: "NOT_FOUND",
  });
  console.log("the front end compiles with TypeScript 6 and 7, and runs in Chromium");
} finally {
  await inDatabase(`drop schema ${place} cascade`);
  await forgetKeys();
}

/** The code of the guide pages for other clients is compiled here, where their libraries are installed. */
function writeSnippets(): void {
  const folder = join(generated, "snippets");
  cpSync(join(generated, "introspection.d.ts"), join(folder, "api/introspection.d.ts"), { recursive: true });
  const snippets = chainPages.flatMap(pageSnippets);
  for (const { line, code } of snippets) writeFileSync(join(folder, `line-${line}.ts`), code);
  console.log(`${snippets.length} snippets of ${chainPages.join(", ")}`);
}

async function resultInBrowser(): Promise<unknown> {
  // Imported by path: the shop declares its users for a whole program, and this script belongs to another one.
  const { migrateAll } = await import(join(shop, "migrations/migrate-all.ts"));
  const { seed } = await import(join(shop, "seed/seed.ts"));
  const { bookshop } = await import(join(shop, "app.ts"));
  await migrateAll();
  await seed({ books: 60, users: 3 });
  const app = bookshop({ app: { logger: false } });
  const { url } = await app.listen({ port: 0 });
  const executablePath = process.env["PORTICO_CHROMIUM"] ?? "/usr/bin/chromium";
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
  try {
    // The front end of another site: the policy of the shop's page allows only the scripts of the shop.
    const page = await browser.newPage({ bypassCSP: true });
    page.on("pageerror", (error) => console.error(error));
    // A real page of the shop: Chromium does not let a page that was made up open a socket to this machine.
    await page.goto(url);
    await page.addScriptTag({ type: "module", content: script });
    const text = await page.locator("body[data-result]").getAttribute("data-result", { timeout: 60_000 });
    return JSON.parse(text ?? "null");
  } finally {
    await browser.close();
    await app.close();
  }
}

async function inDatabase(statement: string): Promise<void> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

async function forgetKeys(): Promise<void> {
  const client = createClient({ url: redisUrl });
  await client.connect();
  for await (const keys of client.scanIterator({ MATCH: `${place}:*`, COUNT: 1_000 }))
    if (keys.length > 0) await client.del(keys);
  client.destroy();
}
