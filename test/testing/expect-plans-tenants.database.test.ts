import { type Kysely, sql } from "kysely";
import { type Condition, exists, isEqual, isIn, PorticoApp, rule } from "portico";
import { SimpleUser, useAuth } from "portico/auth";
import { CursorPagination } from "portico/pagination";
import { tableHandler } from "portico/sql";
import { expectPlans, testClient, watchStatements } from "portico/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SECRET } from "../pagination/ways.ts";
import { engineNames, newPlace, type Place } from "../sql/accounts/databases.ts";

const memberOf = (person: string): Condition<"org"> =>
  isIn("org", { from: "members", column: "org", where: isEqual("person", person) });
const inOrganisation = rule<{ org: number }>({
  name: "organisation",
  allows: () => true,
  where: (user) => memberOf(user.identity),
});
const newest = new CursorPagination({
  order: [
    ["at", "desc"],
    ["id", "desc"],
  ],
});
const ann = new SimpleUser("ann");

describe.each(engineNames)("expectPlans for the list of a tenant on %s", (name) => {
  let place: Place;
  let plain: Kysely<any>;
  let guarded: Kysely<any>;
  beforeAll(async () => {
    place = await newPlace(name);
    plain = place.open<any>();
    // The index ignores the tenant.
    for (const [table, index] of [
      ["loose", "at, id"],
      ["served", "org, at, id"],
    ] as const)
      for (const text of [
        `create table ${table} (id integer primary key, org integer not null, at integer not null, state text not null)`,
        `create index ${table}_index on ${table} (${index})`,
        `insert into ${table} values (1, 1, 1, 'open'), (2, 2, 2, 'open'), (3, 1, 3, 'open')`,
      ])
        await sql.raw(text).execute(plain);
    await sql`create table members (person text, org integer)`.execute(plain);
    await sql`create index members_index on members (person, org)`.execute(plain);
    await sql`insert into members values ('ann', 1)`.execute(plain);
    const gates = { read: inOrganisation, write: "closed" };
    guarded = place.open<any>({ guard: { loose: gates, served: gates, members: "open" } as never });
  });
  afterAll(() => place.remove());

  const plans = async (database: Kysely<any>, table: string, condition?: Condition, state?: string): Promise<void> => {
    const app = new PorticoApp({ logger: false, cursorKeys: [SECRET] });
    app.get("/rows", { auth: useAuth() }, ({ response }) => {
      const rows = database.selectFrom(table).selectAll();
      const list = tableHandler(state === undefined ? rows : rows.where("state", "=", state));
      return response.apaginate(condition === undefined ? list : list.scopedTo(condition), { strategy: newest });
    });
    using watch = watchStatements(database as never);
    await testClient(app).as(ann).get("/rows");
    await expectPlans(watch);
  };

  const conditions: readonly (readonly [string, Condition])[] = [
    ["related rows", memberOf("ann")],
    ["a list of values", isIn("org", [1, 5])],
    ["exists", exists({ from: "members", on: { org: "org" }, where: isEqual("person", "ann") })],
  ];
  it.each(conditions)("names the index that begins with the tenant, for a rule with %s", async (_name, condition) => {
    await expect(plans(plain, "loose", condition)).rejects.toThrow(
      /GET \/rows reads rows of the table loose with another org .*: CREATE INDEX .*ON "loose" \("org", "at", "id"\)/,
    );
    await plans(plain, "served", condition);
  });

  it("names the tenant first if the query compares another column, too", async () => {
    await expect(plans(plain, "loose", memberOf("ann"), "open")).rejects.toThrow('("org", "state", "at", "id")');
  });

  it("names it for the rule of a guarded table", async () => {
    await expect(plans(guarded, "loose")).rejects.toThrow("with another org");
    await plans(guarded, "served");
  });
});
