import { type LiveClient, liveClient, logCatcher } from "portico/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { propertySeed } from "../../../lab/seeds/property-seed.ts";
import { Attack } from "./attack.ts";
import { ada, bea, both, outsider } from "./callers.ts";
import { database, place } from "./database.ts";
import { idEntries } from "./id-entries.ts";
import { Listeners } from "./listeners.ts";
import { marked } from "./marks.ts";
import { idOf, seedTenant } from "./seed.ts";
import { countOf, snapshot } from "./snapshot.ts";
import { createTables } from "./tables.ts";
import { trackerApp } from "./tracker-app.ts";

/** PORTICO_LONG=1 sends twenty times as many operations, and PORTICO_SEED sets them. */
const isLong = process.env["PORTICO_LONG"] === "1";
const OPERATIONS = Number(process.env["PORTICO_OPERATIONS"] ?? (isLong ? 10_000 : 500));
const SEED = propertySeed();

const SUBSCRIPTIONS = OPERATIONS >= 10_000 ? 400 : 80;

/** The code of a statement in a transaction that a deadlock has ended. */
const ABORTED = "25P02";

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
  await database
    .insertInto("people")
    .values({ id: "outsider-1", name: "Outsider", email: "outsider@example.com" })
    .execute();
  client = await liveClient(trackerApp({ level: "warn", stream: log.stream }));
  attack = new Attack(client, SEED);
});
afterAll(async () => {
  await attack?.close();
  await client?.close();
  await place.remove();
});

describe("an issue tracker whose tenants are separated by rules", () => {
  it(`sends no byte of B to a member of A, in ${OPERATIONS} random operations`, { timeout: 3_600_000 }, async () => {
    process.stdout.write(`tracker: seed ${SEED}, ${OPERATIONS} operations\n`);
    await attack.run(OPERATIONS);
    const { tally } = attack;
    process.stdout.write(`${JSON.stringify({ ...tally, codes: Object.fromEntries(tally.codes) })}\n`);

    expect(tally.withA / tally.ofA).toBeGreaterThan(0.6);
    // The operations of B find what those of A must not.
    expect(tally.withB / tally.ofB).toBeGreaterThan(0.6);
    // Nothing fails by itself. Gates that time out on a busy machine and deadlocks of two mutations do not count.
    const failures = log.lines.filter(({ code }) => code === "INTERNAL_SERVER_ERROR");
    expect(failures.filter(({ err }) => (err as { readonly code?: string }).code !== ABORTED)).toEqual([]);
  });

  it("sends no event of B to a member of A, while a member of B makes changes", { timeout: 300_000 }, async () => {
    const listeners = new Listeners(client, attack, await snapshot("B"));
    await listeners.run(SUBSCRIPTIONS);
    const { heard, expected } = listeners;
    process.stdout.write(`${JSON.stringify(heard)}\n`);

    // Some listen to the comments of one issue, to which nothing is added.
    expect(heard.withA / heard.ofA).toBeGreaterThan(0.5);
    expect(heard.withB / heard.ofB).toBeGreaterThan(0.3);
    await attack.expectUnchanged(expected);
  });

  it.each(idEntries)("does not tell a foreign id from an unknown one: %s", async (_name, shot) => {
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

  it.each([ada, both, bea, outsider])("counts the rows that $name may see, and no others", async (caller) => {
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
      // The rule of labels has no condition, but the one of its interface allows a user without an organisation nothing.
      labels: { totalCount: caller === outsider ? 0 : null },
    });
    expect(pages).toEqual([total("project"), total("issue"), total("comment"), total("issue")]);
  });
});
