import { PorticoApp } from "portico";
import { type Database, type Migration, migrate } from "portico/sql";
import { liveClient, logCatcher } from "portico/testing";
import { afterAll, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { pageProgram } from "../../docs/page-program.ts";
import { newPlace } from "../../sql/accounts/databases.ts";

interface ScheduledJob {
  readonly name: string;
  readonly next: unknown;
  readonly run: (trx: Database<any>, signal: AbortSignal) => Promise<void>;
}

const { faults, load } = await pageProgram("docs/recipes/scheduled-jobs.md");
const place = await newPlace("PostgreSQL");
vi.stubEnv("DATABASE_URL", place.url);
const { database, migrations, runIfDue, schedule } = await load<{
  readonly database: Database<any>;
  readonly migrations: readonly Migration[];
  readonly runIfDue: (job: ScheduledJob, signal: AbortSignal) => Promise<boolean>;
  readonly schedule: (app: PorticoApp, jobs: readonly ScheduledJob[], everySeconds: number) => void;
}>("schedule.ts");
const { app, emptyBin } = await load<{ readonly app: PorticoApp; readonly emptyBin: ScheduledJob }>("app.ts");
const all = database.asSystem("the rows of the test");
const { signal } = new AbortController();

beforeAll(async () => {
  await migrate(database, "up", { users: false, migrations });
});
beforeEach(async () => {
  await all
    .updateTable("scheduled_jobs")
    .set({ due_at: new Date(0) })
    .execute();
});
afterAll(async () => {
  await app.close();
  await place.remove();
  vi.unstubAllEnvs();
});

it("compiles", () => {
  expect(faults).toEqual([]);
});

it("empties the bin, once, and then waits for the next night", async () => {
  const owner_id = "ann";
  const rows = [null, new Date(0), new Date()].map((deleted_at, id) => ({ id: `n${id}`, owner_id, deleted_at }));
  await all.insertInto("notes").values(rows).execute();

  expect(await runIfDue(emptyBin, signal)).toBe(true);
  expect(await runIfDue(emptyBin, signal)).toBe(false);

  expect(await all.selectFrom("notes").select("id").orderBy("id").execute()).toEqual([{ id: "n0" }, { id: "n2" }]);
  const { due_at } = await all.selectFrom("scheduled_jobs").select("due_at").executeTakeFirstOrThrow();
  const time = new Intl.DateTimeFormat("en-GB", { timeStyle: "short", timeZone: "Europe/Berlin" }).format(due_at);
  expect([time, due_at > new Date()]).toEqual(["03:00", true]);
});

it("runs in one process while others look, and again after a failure", async () => {
  const started = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const failing = runIfDue(
    {
      ...emptyBin,
      async run() {
        started.resolve();
        await gate.promise;
      },
    },
    signal,
  );
  await started.promise;

  expect(await runIfDue(emptyBin, signal)).toBe(false);
  gate.reject(new Error("the disk is full"));
  await expect(failing).rejects.toThrow("the disk is full");
  expect(await runIfDue(emptyBin, signal)).toBe(true);
});

it("refuses the tables to code that names no reason", async () => {
  await expect(database.selectFrom("notes").selectAll().execute()).rejects.toMatchObject({ code: "CALLER_REQUIRED" });
});

it("waits at shutdown for the job that is running, and logs one that fails", async () => {
  const log = logCatcher();
  const started = Promise.withResolvers<AbortSignal>();
  const own = new PorticoApp({ logger: log });
  const job: ScheduledJob = {
    ...emptyBin,
    async run(_trx, aborted) {
      started.resolve(aborted);
      await new Promise((resolve) => aborted.addEventListener("abort", resolve));
      throw new Error("the process is shutting down");
    },
  };
  schedule(own, [job], 0.01);
  const client = await liveClient(own);
  const aborted = await started.promise;

  await client.close();

  expect(aborted.aborted).toBe(true);
  expect(log.lines.filter(({ msg }) => msg === "a scheduled job failed")).toHaveLength(1);
  expect(await runIfDue(emptyBin, signal)).toBe(true);
});
