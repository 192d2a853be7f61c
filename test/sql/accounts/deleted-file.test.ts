import { mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PorticoApp } from "portico";
import { openDatabase, transaction } from "portico/sql";
import { type TestClient, testClient } from "portico/testing";
import { beforeEach, expect, it, onTestFinished } from "vitest";

let file: string;
let client: TestClient;

beforeEach(async () => {
  const folder = mkdtempSync(join(tmpdir(), "portico-deleted-"));
  file = join(folder, "shop.db");
  const database = openDatabase<{ notes: { text: string } }>(`sqlite:${file}`);
  await database.schema.createTable("notes").addColumn("text", "text").execute();
  const app = new PorticoApp({ logger: false });
  const note = { text: "a" };
  app.put("/notes", async () => {
    await database.insertInto("notes").values(note).execute();
  });
  app.patch("/notes", { params: { trx: transaction(database) } }, async ({ trx }) => {
    await trx.insertInto("notes").values(note).execute();
  });
  app.get("/notes", async () => (await database.selectFrom("notes").selectAll().execute()).length);
  client = testClient(app);
  onTestFinished(async () => {
    await app.close();
    await database.destroy();
    rmSync(folder, { recursive: true });
  });
  await client.put("/notes");
});

it.each([
  ["deleted", () => rmSync(file)],
  ["moved away", () => renameSync(file, `${file}-old`)],
])("a SQLite file that is %s takes no writes, which would be lost", async (_, lose) => {
  lose();

  expect((await client.put("/notes")).status).toBe(503);
  expect((await client.patch("/notes")).status).toBe(503);
  expect((await client.get("/notes")).json()).toBe(1);
  expect((await client.get("/readyz")).json()).toMatchObject({ checks: { writes: "failed" } });
});

it("a SQLite file that is back takes writes again", async () => {
  renameSync(file, `${file}-old`);
  await client.put("/notes");

  renameSync(`${file}-old`, file);

  expect((await client.put("/notes")).status).toBe(204);
  expect((await client.get("/notes")).json()).toBe(2);
});
