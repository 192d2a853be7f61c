import { sql } from "kysely";
import { isEqual, isIn, rule } from "portico";
import { openDatabase } from "portico/sql";
import { describe, expect, it, onTestFinished } from "vitest";
import { guardReport } from "../../src/audit/guard/guard-report.ts";
import { engineNames, newPlace } from "../sql/accounts/databases.ts";

const member = rule<{ org: string }>({
  name: "member",
  allows: () => true,
  where: (user) => isIn("org", { from: "members", column: "org", where: isEqual("person", user.identity) }),
});
const ofProject = rule<{ project: string }>({
  name: "of the project",
  allows: () => true,
  where: (user) =>
    isIn("project", {
      from: "projects",
      column: "id",
      where: isIn("org", { from: "members", column: "org", where: isEqual("person", user.identity) }),
    }),
});
const readers = { read: member, write: member } as const;

describe.each(engineNames)("the audit of a guarded database on %s", (engine) => {
  it("lists keys and indexes that cross tenants, and handles without rules", async () => {
    const place = await newPlace(engine);
    onTestFinished(() => place.remove());
    const plain = place.open<any>({ poolSize: 2 });
    for (const text of [
      "create table members (person text, org text)",
      "create table projects (id text primary key, org text, name text, unique (name))",
      "create table tickets (id text primary key, org text, project text references projects (id) on delete cascade, code text, unique (org, code))",
      "create table comments (id text primary key, project text references projects (id))",
      "create table labels (id text primary key, name text unique)",
    ])
      await sql.raw(text).execute(plain);
    const guard = {
      members: { read: member, write: "closed" },
      projects: readers,
      tickets: readers,
      comments: { read: ofProject, write: ofProject },
      labels: "open",
    } as const;
    const database = place.open<any>({ guard });
    database.asSystem("the nightly report");

    const { rows, warnings } = await guardReport(database);

    expect(rows.map(({ kind, place: reason }) => [kind, reason])).toEqual([["system", "the nightly report"]]);
    expect(warnings).toEqual([
      {
        place: "tickets (project)",
        sentence:
          'can refer to a row of another tenant in projects, and "on delete cascade" then changes it: create a unique index on projects (org, id), and refer to it with foreign key (org, project)',
      },
      {
        place: "projects (name)",
        sentence:
          "is unique for all tenants, so an insert reveals whether another one has the value: make (org, name) unique instead",
      },
    ]);
    expect(await guardReport(plain)).toEqual({ rows: [], warnings: [], gap: null });
  });
});

it("says what was not checked if the database is unreachable", async () => {
  const database = openDatabase<any>("postgres://127.0.0.1:1/none", { guard: { projects: "open" } } as never);
  onTestFinished(() => database.destroy());
  database.asSystem("the nightly report");

  const { rows, warnings, gap } = await guardReport(database);

  expect(rows).toHaveLength(1);
  expect(warnings).toEqual([]);
  expect(gap).toMatch(/unreachable.*, so foreign keys and unique indexes that cross tenants were not looked for$/);
});
