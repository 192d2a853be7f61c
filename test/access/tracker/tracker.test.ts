import { type LiveClient, liveClient, logCatcher } from "portico/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Attack } from "./attack.ts";
import { ada, bea, both, nobody } from "./callers.ts";
import { database, place } from "./database.ts";
import { Listeners } from "./listeners.ts";
import { marked } from "./marks.ts";
import { idOf, seedTenant } from "./seed.ts";
import type { Shot } from "./shots.ts";
import { countOf, snapshot } from "./snapshot.ts";
import { createTables } from "./tables.ts";
import { trackerApp } from "./tracker-app.ts";

/** PORTICO_LONG=1 sends ten times as many operations. */
const isLong = process.env["PORTICO_LONG"] === "1";
const OPERATIONS = Number(process.env["PORTICO_OPERATIONS"] ?? (isLong ? 10_000 : 1_000));
const SEED = Number(process.env["PORTICO_SEED"] ?? Date.now() % 2 ** 31);

const SUBSCRIPTIONS = OPERATIONS >= 10_000 ? 400 : 60;

const graph = (query: string): Shot => ({
  kind: "post",
  method: "POST",
  target: "/graphql",
  body: JSON.stringify({ query }),
});
const rest = (method: "GET" | "PATCH", target: string): Shot => ({ kind: "rest", method, target, body: null });
const selection = "{ __typename }";
/** Everything that takes an id. */
const ENTRIES: readonly (readonly [string, (id: string) => Shot])[] = [
  ...["projects", "issues", "comments"].map(
    (list) => [`GET /api/${list}/:id`, (id: string) => rest("GET", `/api/${list}/${id}`)] as const,
  ),
  ["GET /api/issues/:id/visible", (id) => rest("GET", `/api/issues/${id}/visible`)],
  ["PATCH /api/issues/:id", (id) => rest("PATCH", `/api/issues/${id}`)],
  ...["organisation", "person", "project", "issue", "comment", "label", "node", "hit", "owned"].map(
    (name) => [`query ${name}`, (id: string) => graph(`{ it: ${name}(id: "${id}") ${selection} }`)] as const,
  ),
  ["query issuesById", (id) => graph(`{ issuesById(ids: ["${id}", "${idOf("A", "issues", 1)}"]) { id } }`)],
  ["query issuesOfProject", (id) => graph(`{ issuesOfProject(project: "${id}") { totalCount nodes { id } } }`)],
  ["query commentsOfIssue", (id) => graph(`{ commentsOfIssue(issue: "${id}") { totalCount nodes { id } } }`)],
  ["mutation renameProject", (id) => graph(`mutation { renameProject(id: "${id}", name: "x") { id } }`)],
  ["mutation renameProjects", (id) => graph(`mutation { renameProjects(ids: ["${id}"], name: "x") { id } }`)],
  ["mutation editIssue", (id) => graph(`mutation { editIssue(id: "${id}", title: "x") { id } }`)],
  ["mutation addComment", (id) => graph(`mutation { addComment(issue: "${id}", text: "x") { id } }`)],
  ["mutation deleteIssue", (id) => graph(`mutation { deleteIssue(id: "${id}") { id } }`)],
  ["mutation touch", (id) => graph(`mutation { touch(id: "${id}", text: "x") { __typename } }`)],
  [
    "mutation moveIssue",
    (id) => graph(`mutation { moveIssue(id: "${id}", project: "${idOf("A", "projects", 1)}") { id } }`),
  ],
  [
    "mutation moveIssue to",
    (id) => graph(`mutation { moveIssue(id: "${idOf("A", "issues", 1)}", project: "${id}") { id } }`),
  ],
  ["mutation createIssue", (id) => graph(`mutation { createIssue(project: "${id}", title: "x") { id } }`)],
  ["mutation editComment", (id) => graph(`mutation { editComment(id: "${id}", text: "x") { id } }`)],
];

let client: LiveClient;
let attack: Attack;
const log = logCatcher();
beforeAll(async () => {
  await createTables(database);
  await seedTenant(database, "A", "B");
  await seedTenant(database, "B", "A");
  await seedTenant(database, "C", "A");
  await seedTenant(database, "N", "B");
  const shared = [0, 1].map((at) => ({
    person_id: idOf("A", "people", 2),
    organisation_id: idOf("C", "organisations", at),
  }));
  await database.insertInto("memberships").values(shared).execute();
  await database.insertInto("people").values({ id: "nobody-1", name: "Nobody", email: "nobody@example.com" }).execute();
  client = await liveClient(trackerApp({ level: "warn", stream: log.stream }));
  attack = new Attack(client, SEED);
});
afterAll(async () => {
  await attack?.close();
  await client?.close();
  await place.remove();
});

describe("an issue tracker whose tenants are separated by rules", () => {
  it(`sends no byte of B to a member of A, in ${OPERATIONS} random operations`, { timeout: 1_200_000 }, async () => {
    process.stdout.write(`tracker: seed ${SEED}, ${OPERATIONS} operations\n`);
    await attack.run(OPERATIONS);
    const { tally } = attack;
    process.stdout.write(`${JSON.stringify({ ...tally, codes: Object.fromEntries(tally.codes) })}\n`);

    expect(tally.withA / tally.ofA).toBeGreaterThan(0.6);
    expect(tally.withB / tally.ofB).toBeGreaterThan(0.6);
  });

  it("sends no event of B to a member of A, while a member of B makes changes", { timeout: 300_000 }, async () => {
    const listeners = new Listeners(client, attack, await snapshot("B"));
    await listeners.run(SUBSCRIPTIONS);
    const { heard, expected } = listeners;
    process.stdout.write(`${JSON.stringify(heard)}\n`);

    expect(heard.withA / heard.ofA).toBeGreaterThan(0.6);
    expect(heard.withB / heard.ofB).toBeGreaterThan(0.6);
    await attack.expectUnchanged(expected);
  });

  it.each(ENTRIES)("does not tell a foreign id from an unknown one: %s", async (_name, shot) => {
    const kinds = ["organisations", "people", "projects", "issues", "comments", "labels"] as const;
    for (const kind of kinds) {
      const [foreign, nowhere, unknown] = await Promise.all(
        [idOf("B", kind, 3), idOf("N", kind, 4), marked("X", 3)].map(async (id) => {
          const response = await attack.wire(ada).send(shot(id));
          return response.replaceAll(id, "<id>").replaceAll(/"(?:date|correlationId)":"[^"]*"/g, "");
        }),
      );
      expect(foreign).toBe(unknown);
      expect(nowhere).toBe(unknown);
    }
  });

  it.each([ada, both, bea, nobody])("counts the rows that $name may see, and no others", async (caller) => {
    const seen = await Promise.all(caller.mayRead.map(snapshot));
    const total = (table: string): number => seen.reduce((sum, rows) => sum + countOf(rows, table), 0);
    const { data } = await client.graphql<any>(
      "{ projects { totalCount } issues { totalCount } comments { totalCount } labels { totalCount } }",
      {},
      { headers: caller.headers },
    );
    const pages = await Promise.all(
      ["projects", "issues", "comments", "issue-list"].map(async (list) => {
        const response = await client.get(`/api/${list}`, { headers: caller.headers });
        return (response.json() as { readonly pagination: { readonly total_items: number } }).pagination.total_items;
      }),
    );

    expect(data).toEqual({
      projects: { totalCount: total("project") },
      issues: { totalCount: total("issue") },
      comments: { totalCount: total("comment") },
      // The rule of labels has no condition.
      labels: { totalCount: null },
    });
    expect(pages).toEqual([total("project"), total("issue"), total("comment"), total("issue")]);
  });
});
