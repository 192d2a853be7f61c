import { type TableHandler, tableHandler } from "portico/sql";
import { describe, expect, it } from "vitest";
import { checkLists } from "../../lab/lists/check-lists.ts";
import { generateLists } from "../../lab/lists/list-declaration.ts";
import { throughDrizzle, throughKysely } from "../../lab/lists/list-source.ts";
import { engineNames } from "../../lab/servers/engines.ts";

describe("generated lists", () => {
  const sources = { Kysely: throughKysely(), Drizzle: throughDrizzle };
  it.each(engineNames.flatMap((name) => [[name, "Kysely"] as const, [name, "Drizzle"] as const]))(
    "return every row once, in order, forward and backward, on %s through %s",
    async (name, builder) => {
      expect(await checkLists(name, { count: 25, seed: 7 }, sources[builder])).toEqual([]);
    },
  );

  it("differ in all that a list declares", () => {
    const lists = generateLists(1_000, 7);

    const kinds = lists.map(({ isNested, isSortedByClient, nulls, filter, order }) =>
      JSON.stringify([isNested, isSortedByClient, nulls ?? null, filter !== null, order.some(([, , place]) => place)]),
    );
    // Clients cannot place nulls themselves: 12 kinds of lists for clients, and 24 others.
    expect(new Set(kinds).size).toBe(36);
  });

  it("that lose a row between two pages are found, in routes and in nested lists", async () => {
    const losing = (list: TableHandler<any>): TableHandler<any> => {
      const itemsAfter = list.getItemsAfter.bind(list);
      const itemsBelow = list.getItemsBelow.bind(list);
      return Object.assign(list, {
        async getItemsAfter(...[seek, limit]: Parameters<typeof itemsAfter>) {
          const rows = await itemsAfter(seek, seek.key === null ? limit : limit + 1);
          return seek.key === null ? rows : rows.slice(1);
        },
        async getItemsBelow(...[seeks, by, limit]: Parameters<typeof itemsBelow>) {
          const lists = await itemsBelow(seeks, by, limit + 1);
          return lists.map((rows, at) => (rows instanceof Error || seeks[at]?.key === null ? rows : rows.slice(1)));
        },
      });
    };

    const wrong = await checkLists(
      "SQLite",
      { count: 40, seed: 7 },
      throughKysely((query) => losing(tableHandler(query))),
    );

    expect(new Set(wrong.map(({ list }) => list.isNested))).toEqual(new Set([true, false]));
  });
});
