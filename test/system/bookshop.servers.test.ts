import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { Client } from "pg";
import { expect, it, onTestFinished } from "vitest";
import { folderWithPackage } from "../../scripts/package/built-package.ts";
import { root } from "../../scripts/package/repository.ts";
import { startProgram } from "../docs/program.ts";
import { removeKeys } from "../redis/remove-keys.ts";

const DATABASE = "postgres://postgres@127.0.0.1:5432/test";

// Its own tests are in examples/bookshop/test; `npm run test:example` runs them on the packed package.
it("examples/bookshop, copied out of the repository, makes its tables and runs with plain Node", async () => {
  const place = `bookshop_${randomBytes(6).toString("hex")}`;
  const env = { DATABASE_URL: `${DATABASE}?options=-c%20search_path%3D${place}`, REDIS_PREFIX: place };
  await inDatabase(`create schema ${place}`);
  onTestFinished(async () => {
    await inDatabase(`drop schema ${place} cascade`);
    await removeKeys(place);
  });
  const folder = await folderWithPackage("bookshop");
  await cp(join(root, "examples/bookshop/src"), join(folder, "src"), { recursive: true });
  await cp(join(root, "examples/bookshop/portico.config.ts"), join(folder, "portico.config.ts"));
  const portico = async (...args: readonly string[]) => {
    const run = promisify(execFile)(process.execPath, ["node_modules/portico/dist/cli/portico.js", ...args], {
      cwd: folder,
      env: { PATH: process.env["PATH"], ...env },
    });
    run.child.stdin?.end("correct horse battery\n");
    return (await run).stdout;
  };

  const migrated = await portico("migrate", "up");
  await portico("user", "create", "--email", "ann@x.example", "--username", "ann", "--role", "admin");
  const key = await portico("keys", "create", "ann");
  const program = await startProgram(folder, "src/server.ts", env);
  onTestFinished(async () => void (await program.end("SIGKILL")));
  const [books, ready] = [await fetch(`${program.url}/books`), await fetch(`${program.url}/readyz`)];
  const page = await fetch(`${program.url}/operations/page`, { headers: { "x-api-key": key.trim() } });

  expect(migrated).toMatch(
    /^applied 0001_users\n.*applied 0003_sellers\napplied account_log\napplied idempotency\ndefined the role reader\n.*role admin\n$/s,
  );
  expect(page.status).toBe(200);
  expect(await books.json()).toMatchObject({ items: [], pagination: { total_items: 0 } });
  expect(ready.status).toBe(200);
  expect(await program.end("SIGTERM")).toBe(0);
  // It builds the package first.
}, 180_000);

async function inDatabase(statement: string): Promise<void> {
  const client = new Client({ connectionString: DATABASE });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
