import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { PorticoApp } from "portico";
import { migrate } from "portico/sql";
import {
  expectAgreement,
  expectFlat,
  expectPlans,
  type TestClient,
  testClient,
  watchStatements,
} from "portico/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { database as Opened } from "../after/database.ts";
import type { User } from "../after/users/user.ts";
import { countLines, linesTable } from "../count-lines.ts";
import { createDatabase } from "../data/create-database.ts";
import { STATEMENTS } from "./documents.ts";

const folder = mkdtempSync(join(tmpdir(), "tracker-"));
const sent: string[] = [];
let app: PorticoApp;
let database: typeof Opened;
let users: readonly User[];
let clients: readonly TestClient[];
beforeAll(async () => {
  const file = join(folder, "tracker.db");
  createDatabase(file);
  process.env["DATABASE"] = file;
  const opened = await import("../after/database.ts");
  const { User: TrackerUser } = await import("../after/users/user.ts");
  const { tracker } = await import("../after/app.ts");
  const { notifier } = await import("../after/tasks/notifier.ts");
  database = opened.database;
  await migrate(database, "up", { users: false, migrations: opened.migrations });
  users = (await database.selectFrom("users").selectAll().orderBy("id").execute()).map((row) => new TrackerUser(row));
  app = tracker({ logger: false });
  app.override(notifier, () => ({
    async assigned(userId, title) {
      sent.push(`${userId}: ${title}`);
    },
  }));
  clients = users.map((user) => testClient(app).as(user, { scope: "jwt" }));
});
afterAll(async () => {
  await app.close();
  rmSync(folder, { recursive: true });
});
const client = (id: number): TestClient => clients[id - 1] as TestClient;

describe("the rules", () => {
  it("select the rows in the database that they allow in JavaScript", async () => {
    const document =
      "{ projects(first: 2) { nodes { tasks(first: 2) { nodes { id } } } } tasks(first: 2) { nodes { id } } }";

    await expectAgreement(app, { users, lists: (user) => user.graphql(document) });
  });

  it("hold on the route, the field, the list and the nested field", async () => {
    const { data } = await client(4).graphql<{ projects: { nodes: readonly object[]; totalCount: number } }>(`{
      projects { totalCount nodes { id tasks(first: 1) { nodes { id project { id } } } } }
      project(id: 1) { id }
      task(id: 1) { id }
    }`);

    expect(data).toMatchObject({ project: null, task: null });
    expect([data?.projects.totalCount, data?.projects.nodes.length]).toEqual([10, 10]);
    expect((await client(4).get("/projects")).json()).toMatchObject({ total: 10 });
    expect((await client(4).get("/projects/1")).status).toBe(404);
  });
});

describe("the lists", () => {
  it("need as many statements for a large page as for a small one, and find their rows by an index", async () => {
    using watch = watchStatements(database);
    const nested = `query ($first: Int!) {
      projects(first: $first) { nodes { name owner { name } tasks(first: 5) { nodes { title project { name } assignee { name } } } } }
      tasks(first: $first) { nodes { title } }
    }`;

    await expectFlat(watch, (first) => client(2).graphql(nested, { first }));
    await expectFlat(watch, (limit) => client(2).get("/projects", { query: { limit } }));
    await client(1).graphql(nested, { first: 5 });
    await expectPlans(watch);
  });
});

describe("a notification", () => {
  it("is sent after the commit, and not for a task that was rolled back", async () => {
    const create = "createTask(input: { projectId: $projectId, title: $title, assigneeId: 3 }) { id }";
    const createForNobody = 'createTask(input: { projectId: 1, title: "Three", assigneeId: 999 }) { id }';
    const variables = "($projectId: Int!, $title: TaskTitle!)";

    await client(2).graphql(`mutation ${variables} { a: ${create} }`, { projectId: 1, title: "One" });
    const two = { projectId: 1, title: "Two" };
    const { data } = await client(2).graphql(`mutation ${variables} { b: ${create} c: ${createForNobody} }`, two);

    expect(data).toEqual({ b: null, c: null });
    expect(sent).toEqual(["3: One"]);
  });
});

describe("the README", () => {
  const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");

  it("shows the lines of both versions, and so does the comparison with NestJS", () => {
    const [, before, after] = countLines().at(-1) ?? [];
    const comparison = readFileSync(new URL("../../../docs/comparison.md", import.meta.url), "utf8");

    expect(readme).toContain(linesTable());
    expect(comparison).toContain(`went from ${before?.lines} lines to ${after?.lines}.`);
  });

  it("shows the statements of both versions", () => {
    expect(readme).toContain(`${STATEMENTS.before} | ${STATEMENTS.after} |`);
  });

  it("shows the number of direct dependencies of both versions", () => {
    const [before, after] = ["../before/package.json", "../package.json"].map((file) => {
      const manifest = readFileSync(new URL(file, import.meta.url), "utf8");
      return Object.keys((JSON.parse(manifest) as { dependencies: object }).dependencies).length;
    });

    expect(readme).toContain(`${before} direct dependencies become ${after}`);
  });
});
