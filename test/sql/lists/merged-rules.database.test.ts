import { CompiledQuery, sql } from "kysely";
import { type Condition, isEqual, isIn, rule } from "portico";
import { SimpleUser } from "portico/auth";
import type { Order } from "portico/pagination";
import { type Database, tableHandler } from "portico/sql";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { anyOf } from "../../../src/pagination/conditions/condition.ts";
import { onStatementSent } from "../../../src/sql/database/on-statement-sent.ts";
import { newPlace, type Place } from "../accounts/databases.ts";
import { vacuumTables } from "../vacuum-tables.ts";

interface Tables {
  tickets: { id: number; org: number; at: number; title: string };
  loose: { id: number; org: number };
  labelled: { id: number; org: number; label: number | null };
  members: { person: string; org: number; role: string };
}

const ORGANISATIONS = 100;
const ROWS = 40_000;
const LIMIT = 11;
const byId: Order = [["id", "asc"]];
const newest: Order = [
  ["at", "desc"],
  ["id", "desc"],
];

const memberOf = (person: string): Condition<"org"> =>
  isIn("org", { from: "members", column: "org", where: isEqual("person", person) });
const inOrganisation = rule<{ org: number }>({
  name: "organisation",
  allows: () => true,
  where: (user) => memberOf(user.identity),
});

describe("the list of a rule on PostgreSQL", () => {
  let place: Place;
  let database: Database<Tables>;
  let guarded: Database<Tables>;
  let sent: { readonly sql: string; readonly parameters: readonly unknown[] }[] = [];

  beforeAll(async () => {
    place = await newPlace("PostgreSQL");
    database = place.open<any>() as Database<Tables>;
    guarded = place.open<any>({
      guard: {
        tickets: { read: inOrganisation, write: "closed" },
        labelled: { read: inOrganisation, write: "closed" },
        loose: "open",
        members: "open",
      } as never,
    }) as Database<Tables>;
    for (const text of [
      "create table tickets (id integer primary key, org integer not null, at integer not null, title text not null)",
      `insert into tickets select n, n % ${ORGANISATIONS}, n / 3, repeat('a ticket ', 9) || n from generate_series(1, ${ROWS}) n`,
      "create index on tickets (org, id)",
      "create index on tickets (org, at, id)",
      "create table loose (id integer primary key, org integer not null)",
      "insert into loose select id, org from tickets",
      // Tickets of all organisations share five labels.
      "create table labelled (id integer primary key, org integer not null, label integer)",
      "insert into labelled select id, org, nullif(id % 7, 6) from tickets",
      "create index on labelled (org, label, id)",
      "create index on labelled (label, id)",
      "create table members (person text, org integer, role text)",
      // Every member has two roles.
      `insert into members select 'all', n, r from generate_series(0, ${ORGANISATIONS - 1}) n, unnest(array['reader', 'writer']) r`,
      "insert into members select 'few', n, r from generate_series(7, 11) n, unnest(array['reader', 'writer']) r",
      "insert into members select 'some', n, 'reader' from generate_series(1, 6) n",
    ])
      await sql.raw(text).execute(database);
    await vacuumTables(database, "tickets", "labelled", "loose", "members");
    for (const one of [database, guarded]) onStatementSent(one, (statement) => sent.push(statement));
  });
  afterAll(() => place.remove());
  beforeEach(() => {
    sent = [];
  });

  const tickets = (condition: Condition<"org">) =>
    tableHandler(database.selectFrom("tickets").selectAll()).scopedTo(condition);
  const read = async (handler: Pick<ReturnType<typeof tickets>, "getItemsAfter">, order: Order, after?: number) => {
    const key = after === undefined ? null : order === byId ? [after] : [Math.floor(after / 3), after];
    const found = await handler.getItemsAfter({ order, key, direction: "forward" }, LIMIT);
    return found.map(({ id }) => id);
  };
  /** The rows of a table that the last statement read. */
  const rowsRead = async (table = "tickets"): Promise<number> => {
    const { sql: text, parameters } = sent.at(-1) as (typeof sent)[number];
    const explain = CompiledQuery.raw(`explain (analyze, format json) ${text}`, [...parameters]);
    const { rows } = await database.executeQuery<{ "QUERY PLAN": readonly [{ Plan: PlanNode }] }>(explain);
    const scans = nodesOf((rows[0] as (typeof rows)[number])["QUERY PLAN"][0].Plan).filter(
      (node) => node["Relation Name"] === table,
    );
    return scans.reduce(
      (sum, scan) => sum + (scan["Actual Rows"] + (scan["Rows Removed by Filter"] ?? 0)) * scan["Actual Loops"],
      0,
    );
  };
  const expected = (organisations: readonly number[], order: Order, after?: number): readonly number[] => {
    const ids = Array.from({ length: ROWS }, (_, at) => at + 1).filter((id) =>
      organisations.includes(id % ORGANISATIONS),
    );
    const ordered = order === byId ? ids : ids.toReversed();
    const next = after === undefined ? 0 : ordered.findIndex((id) => (order === byId ? id > after : id < after));
    return next === -1 ? [] : ordered.slice(next, next + LIMIT);
  };

  const few = [7, 8, 9, 10, 11];
  const rules: readonly (readonly [string, Condition<"org">])[] = [
    ["related rows", memberOf("few")],
    ["values", isIn("org", few)],
  ];
  it.each(rules)("reads no rows of other organisations at any depth, for a rule with %s", async (_name, condition) => {
    for (const order of [byId, newest])
      for (const after of [undefined, 5_000, 20_000, 39_500]) {
        expect(await read(tickets(condition), order, after)).toEqual(expected(few, order, after));
        // The first rows of five organisations, and a page of each of them.
        expect(await rowsRead()).toBeLessThanOrEqual(few.length + few.length * LIMIT);
      }
  });

  it("reads a page backward and with the selected columns only", async () => {
    const handler = tickets(memberOf("few")).selecting(["id"]);

    const last = await handler.getItemsAfter({ order: byId, key: null, direction: "backward" }, 3);

    expect(last.map((row) => ({ ...row }))).toEqual(
      expected(few, newest)
        .slice(0, 3)
        .map((id) => ({ id })),
    );
    expect(sent.at(-1)?.sql).toContain("~parents");
  });

  it("looks nothing up for a member of no organisation", async () => {
    expect(await read(tickets(memberOf("no one")), byId)).toEqual([]);
    expect(await rowsRead()).toBe(0);
  });

  it("walks the order if a page of visible rows is found sooner there", async () => {
    expect(await read(tickets(memberOf("all")), byId)).toEqual(Array.from({ length: LIMIT }, (_, at) => at + 1));
    expect(sent.at(-1)?.sql).not.toContain("~parents");
  });

  it("sends one statement per page once it knows the statistics and the number of the caller's organisations", async () => {
    await read(tickets(memberOf("few")), byId);
    sent = [];

    await read(tickets(memberOf("few")), byId, 5_000);

    expect(sent).toHaveLength(1);
  });

  it("has the members of the moment that a page is read", async () => {
    await read(tickets(memberOf("few")), byId);
    await database.deleteFrom("members").where("person", "=", "few").where("org", "=", 7).execute();

    const seen = await read(tickets(memberOf("few")), byId);

    await database
      .insertInto("members")
      .values(["reader", "writer"].map((role) => ({ person: "few", org: 7, role })))
      .execute();
    expect(seen).toEqual(expected([8, 9, 10, 11], byId));
  });

  it("is merged together with other conditions, but not by branches that may overlap", async () => {
    const both = tickets(memberOf("few")).scopedTo(isIn("at", [...Array(100).keys()]));
    const either = tickets(anyOf([memberOf("few"), isIn("org", [11, 12])]));

    expect(await read(both, byId)).toEqual(expected(few, byId).filter((id) => id < 300));
    expect(sent.at(-1)?.sql).toContain("~parents");
    expect(await read(either, byId)).toEqual(expected([...few, 12], byId));
    expect(sent.at(-1)?.sql).not.toContain("~parents");
  });

  describe("below parents that organisations share", () => {
    const labels = [0, 3, null, 5, 99];
    const labelled = (condition: Condition<"org">) =>
      tableHandler(database.selectFrom("labelled").selectAll()).scopedTo(condition);
    type Labelled = Pick<ReturnType<typeof labelled>, "getItemsBelow" | "countBelow">;
    const below = async (handler: Labelled, after: number | null, direction: "forward" | "backward" = "forward") => {
      const seeks = labels.map((label, at) => ({
        parent: { label },
        key: after === null || at === 1 ? null : [after],
      }));
      const lists = await handler.getItemsBelow(seeks, { order: byId, direction }, LIMIT);
      return lists.map((list) => (list instanceof Error ? list : list.map(({ id }) => id)));
    };
    /** The same lists, read by a condition that has an alternative and is therefore not merged. */
    const unmerged = (person: string) => labelled(anyOf([memberOf(person), isIn("org", [-1, -2])]));

    it.each([
      ["related rows", memberOf("few"), "few"],
      ["values", isIn("org", few), "few"],
      ["no rows", memberOf("no one"), "no one"],
    ] as const)("reads no rows of other organisations for a rule with %s", async (_name, condition, person) => {
      for (const after of [null, 5_000, 39_500])
        for (const direction of ["forward", "backward"] as const) {
          const merged = await below(labelled(condition), after, direction);
          expect(sent.at(-1)?.sql).toContain("~outer");
          expect(await rowsRead("labelled")).toBeLessThanOrEqual(labels.length * (few.length + few.length * LIMIT));
          expect(merged).toEqual(await below(unmerged(person), after, direction));
          expect(sent.at(-1)?.sql).not.toContain("~outer");
        }
    });

    it("reads the lists of a guarded table, with the columns of the client only", async () => {
      const list = tableHandler(guarded.as(new SimpleUser("few")).selectFrom("labelled").selectAll());

      const found = await below(list, 5_000);
      expect(await rowsRead("labelled")).toBeLessThanOrEqual(labels.length * (few.length + few.length * LIMIT));
      expect(found).toEqual(await below(unmerged("few"), 5_000));
      const [first] = await list
        .selecting(["id"])
        .getItemsBelow([{ parent: { label: 3 }, key: null }], { order: byId, direction: "forward" }, LIMIT);
      expect(Object.keys((first as readonly object[])[0] as object)).toEqual(["id"]);
      expect(sent.at(-1)?.sql).toContain("~outer");
    });

    it("fails the list of a value that doesn't fit alone", async () => {
      const seeks = [
        { parent: { label: 3 }, key: null },
        { parent: { label: 4 }, key: ["no number"] },
      ];
      const lists = await labelled(memberOf("few")).getItemsBelow(seeks, { order: byId, direction: "forward" }, LIMIT);

      expect(lists[0]).toHaveLength(LIMIT);
      expect(lists[1]).toBeInstanceOf(Error);
    });

    it("is read as before for a member of many organisations, and below the organisation itself", async () => {
      expect(await below(labelled(memberOf("some")), null)).toEqual(await below(unmerged("some"), null));
      expect(await below(labelled(memberOf("all")), null)).toEqual(await below(unmerged("all"), null));
      await labelled(memberOf("few")).getItemsBelow(
        [{ parent: { org: 7 }, key: null }],
        { order: byId, direction: "forward" },
        LIMIT,
      );
      expect(sent.map((statement) => statement.sql).join()).not.toContain("~outer");
    });
  });

  it("counts the rows of the caller from their index ranges, which needs no merge", async () => {
    const visible = (ROWS / ORGANISATIONS) * few.length;

    for (const condition of [memberOf("few"), isIn("org", few)]) {
      expect(await tickets(condition).getTotalItems()).toBe(visible);
      expect(await rowsRead()).toBe(visible);
    }
    const labels = [{ label: 3 }, { label: 5 }];
    const found = await tableHandler(database.selectFrom("labelled").selectAll())
      .scopedTo(memberOf("few"))
      .countBelow(labels, null);
    const counted = (found as number[]).reduce((sum, count) => sum + count, 0);
    // A plan has the rows of a loop, rounded.
    expect(Math.abs((await rowsRead("labelled")) - counted)).toBeLessThan(few.length * labels.length);
  });

  it("is read as before without an index that begins with the organisation", async () => {
    const handler = tableHandler(database.selectFrom("loose").selectAll()).scopedTo(memberOf("few"));

    expect(await read(handler as never, byId)).toEqual(expected(few, byId));
    expect(sent.at(-1)?.sql).not.toContain("~parents");
  });

  it("reads no rows of other organisations if the rule is that of the database's guard", async () => {
    const list = (person: string) => tableHandler(guarded.as(new SimpleUser(person)).selectFrom("tickets").selectAll());

    for (const after of [undefined, 39_500]) {
      expect(await read(list("few"), byId, after)).toEqual(expected(few, byId, after));
      expect(await rowsRead()).toBeLessThanOrEqual(few.length + few.length * LIMIT);
    }
    expect(await read(list("no one"), byId)).toEqual([]);
    expect(await list("few").getTotalItems()).toBe((ROWS / ORGANISATIONS) * few.length);
  });

  it("is not merged if the query reads the guarded table twice", async () => {
    const query = guarded
      .as(new SimpleUser("few"))
      .selectFrom("tickets")
      .innerJoin("tickets as same", "same.id", "tickets.id")
      .select(["tickets.id", "tickets.org"]);

    expect(await read(tableHandler(query) as never, byId)).toEqual(expected(few, byId));
    expect(sent.at(-1)?.sql).not.toContain("~parents");
  });
});

interface PlanNode {
  readonly "Relation Name"?: string;
  readonly "Actual Rows": number;
  readonly "Actual Loops": number;
  readonly "Rows Removed by Filter"?: number;
  readonly Plans?: readonly PlanNode[];
}

function nodesOf(plan: PlanNode): readonly PlanNode[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];
}
