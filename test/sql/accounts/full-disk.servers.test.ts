import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { memoryStores, PorticoApp, type PorticoAppOptions } from "portico";
import { type Database, migrate, openDatabase, sqlStores } from "portico/sql";
import { liveClient, type TestClient } from "portico/testing";
import { describe, expect, it, onTestFinished } from "vitest";

/** A file system of four megabytes. */
function smallDisk(): { readonly folder: string; readonly grow: () => void } {
  const folder = mkdtempSync(join(tmpdir(), "portico-disk-"));
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=4m", "tmpfs", folder], { stdio: "ignore" });
  onTestFinished(() => {
    execFileSync("umount", ["--lazy", folder]);
    rmSync(folder, { recursive: true });
  });
  return { folder, grow: () => void execFileSync("mount", ["-o", "remount,size=16m", folder]) };
}

type Build = (database: Database) => PorticoAppOptions;

/** An application whose requests write four kilobytes each. */
async function notes(folder: string, build: Build): Promise<TestClient> {
  const database = openDatabase<any>(`sqlite:${folder}/shop.db`);
  await migrate(database, "up");
  await sql`create table notes (text text)`.execute(database);
  const app = new PorticoApp({ logger: false, ...build(database) });
  app.onClose(() => database.destroy());
  app.post(
    "/notes",
    async () =>
      void (await database
        .insertInto("notes")
        .values({ text: "x".repeat(4_000) })
        .execute()),
  );
  app.get("/notes", () => database.selectFrom("notes").select("text").limit(1).execute());
  const client = await liveClient(app);
  onTestFinished(() => client.close());
  return client;
}

async function fill(client: TestClient): Promise<number> {
  for (let count = 0; count < 2_000; count++) {
    const { status } = await client.post("/notes");
    if (status !== 204) return status;
  }
  return 204;
}

const stored: Build = (database) => ({
  stores: sqlStores(database),
  health: { checks: { database: () => database.ping() } },
});
const inMemory: Build = () => ({ stores: memoryStores() });

// Only root may mount a disk.
describe.skipIf(process.getuid?.() !== 0)("a full disk under SQLite", () => {
  it.each([
    ["the durable store", stored],
    ["a database of the application", inMemory],
  ])("is named in readiness, for %s", async (_, build) => {
    const disk = smallDisk();
    const client = await notes(disk.folder, build);
    expect((await client.get("/readyz")).json()).toMatchObject({ status: "ready" });

    expect(await fill(client)).toBe(503);

    // The result of the probe is kept for a second.
    await expect
      .poll(async () => (await client.get("/readyz")).json())
      .toMatchObject({ status: "ready", checks: { writes: "failed" } });
    expect((await client.get("/notes")).status).toBe(200);
    disk.grow();
    await expect
      .poll(async () => (await client.get("/readyz")).json(), { timeout: 20_000 })
      .toMatchObject({
        checks: { writes: "ok" },
      });
    expect((await client.post("/notes")).status).toBe(204);
  });

  it("makes the process not ready if writes are required", async () => {
    const disk = smallDisk();
    const client = await notes(disk.folder, (database) => ({ ...stored(database), readiness: { writes: "required" } }));
    // Filled by another process, so no request has failed yet.
    await client.post("/notes");
    try {
      writeFileSync(join(disk.folder, "filler"), Buffer.alloc(8 * 1024 * 1024));
    } catch {}

    await expect.poll(async () => (await client.get("/readyz")).status).toBe(503);

    expect((await client.get("/readyz")).json()).toMatchObject({
      checks: { durable: "ok", database: "ok", writes: "failed" },
    });
    disk.grow();
    await expect.poll(async () => (await client.get("/readyz")).status, { timeout: 20_000 }).toBe(200);
  });
});
