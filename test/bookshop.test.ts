import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { Client } from "pg";
import { expect, it, onTestFinished } from "vitest";
import { folderWithPackage } from "./docs/built-package.ts";
import { startProgram } from "./docs/program.ts";
import { root } from "./docs/repository.ts";
import { removeKeys } from "./redis/remove-keys.ts";

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

  const { stdout } = await promisify(execFile)(process.execPath, ["src/commands/migrate.ts"], {
    cwd: folder,
    env: { PATH: process.env["PATH"], ...env },
  });
  const program = await startProgram(folder, "src/server.ts", env);
  onTestFinished(async () => void (await program.end("SIGKILL")));
  const [books, ready] = [await fetch(`${program.url}/books`), await fetch(`${program.url}/readyz`)];

  expect(stdout).toMatch(/^applied 0001_users.*0003_sellers$/m);
  expect(await books.json()).toMatchObject({ items: [], pagination: { total_items: 0 } });
  expect(ready.status).toBe(200);
  expect(await program.end("SIGTERM")).toBe(0);
});

async function inDatabase(statement: string): Promise<void> {
  const client = new Client({ connectionString: DATABASE });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
