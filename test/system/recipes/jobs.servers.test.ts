import { randomUUID } from "node:crypto";
import { EventEmitter, once } from "node:events";
import type { PgBoss } from "pg-boss";
import type { PorticoApp } from "portico";
import type { Database } from "portico/sql";
import { type LiveClient, liveClient } from "portico/testing";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { pageProgram } from "../../docs/page-program.ts";
import { newPlace, onServer } from "../../sql/accounts/databases.ts";

interface JobsModule {
  readonly boss: PgBoss;
  workOn(name: string, work: (data: { readonly orderId: string }) => Promise<void>): Promise<void>;
}

const { faults, load } = await pageProgram("docs/recipes/jobs.md");
const schema = `jobs_${randomUUID().replaceAll("-", "")}`;

const place = await newPlace("PostgreSQL");
vi.stubEnv("DATABASE_URL", place.url);
vi.stubEnv("JOBS_SCHEMA", schema);
const jobs = await load<JobsModule>("jobs.ts");
const { app, database } = await load<{ readonly app: PorticoApp; readonly database: Database<any> }>("app.ts");
let client: LiveClient;

beforeAll(async () => {
  await database.schema.createTable("orders").addColumn("id", "text").addColumn("title", "text").execute();
  client = await liveClient(app);
});
afterAll(async () => {
  await client.close();
  await onServer(`drop schema ${schema} cascade`);
  await place.remove();
  vi.unstubAllEnvs();
});

const waiting = async (): Promise<readonly string[]> =>
  (await jobs.boss.findJobs<{ orderId: string }>("receipt")).map(({ data }) => data.orderId);

it("compiles", () => {
  expect(faults).toEqual([]);
});

it("stores an order with its job, from a route and from a mutation", async () => {
  const { id } = (await client.post("/orders", { body: { title: "Emma" } })).json() as { id: string };
  const { data } = await client.graphql('mutation { order(title: "Persuasion") }');

  const orders = await database.selectFrom("orders").select("id").execute();
  const ids = new Set([id, data?.["order"]]);
  expect(ids.size).toBe(2);
  expect(new Set(orders.map((order) => order.id as unknown))).toEqual(ids);
  expect(new Set<unknown>(await waiting())).toEqual(ids);
});

it("stores no job if the request fails", async () => {
  const before = await waiting();

  const response = await client.post("/orders", { body: { title: "Sold out" } });
  const { errors } = await client.graphql('mutation { order(title: "Sold out") }');

  expect([response.status, errors?.[0]?.extensions?.["code"]]).toEqual([409, "CONFLICT"]);
  expect((await waiting()).toSorted()).toEqual(before.toSorted());
});

it("passes the data of each job to the worker, and runs a job that failed again", async () => {
  const expected = (await waiting()).toSorted();
  const runs: string[] = [];
  const worked = new EventEmitter();
  const allDone = once(worked, "done");

  await jobs.workOn("receipt", async ({ orderId }) => {
    runs.push(orderId);
    if (runs.length === 1) throw new Error("the mail server is down");
    if (new Set(runs).size === expected.length && runs.length > expected.length) worked.emit("done");
  });
  await allDone;

  expect([...new Set(runs)].toSorted()).toEqual(expected);
  expect(runs.filter((id) => id === runs[0])).toHaveLength(2);
});
