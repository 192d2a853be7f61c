import { randomUUID } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { asc, eq } from "drizzle-orm";
import { drizzleHandler } from "portico/drizzle";
import { tableHandler } from "portico/sql";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openDrizzle, tableOf } from "../../../lab/servers/drizzle-databases.ts";
import { type Engine, type EngineName, engineNames, openEngine } from "../../../lab/servers/engines.ts";
import type { PagedShop } from "./paged-shop.ts";
import { createShopTables, type ListSource, pagedTables, shopTables } from "./paged-tables.ts";
import { connections, properties } from "./pagination-connections.ts";
import { changes, cursors } from "./pagination-cursors.ts";
import { options } from "./pagination-options.ts";
import { offsets, pageNumbers } from "./pagination-pages.ts";

type OpenSource = (engine: Engine) => ListSource & { close?(): Promise<void> };

function throughKysely({ database, statements }: Engine): ListSource {
  return {
    list(table, { orderBy, where, ...options } = {}) {
      const rows = database.selectFrom(table).selectAll();
      const some = where === undefined ? rows : rows.where(where[0], "=", where[1]);
      return tableHandler(orderBy === undefined ? some : some.orderBy(orderBy), options);
    },
    statements,
  };
}

function throughDrizzle(engine: Engine): ListSource & { close(): Promise<void> } {
  const drizzle = openDrizzle(engine);
  return {
    list(name, { orderBy, where, ...options } = {}) {
      const table = tableOf(engine.name, name, shopTables[name] ?? {});
      const column = (of: string): never => table[of] as never;
      const rows = drizzle.db.select().from(table).$dynamic();
      const some = where === undefined ? rows : rows.where(eq(column(where[0]), where[1]));
      return drizzleHandler(
        (orderBy === undefined ? some : some.orderBy(asc(column(orderBy)))) as never,
        options,
      ) as never;
    },
    statements: drizzle.statements,
    close: () => drizzle.close(),
  };
}

const sources: Readonly<Record<string, OpenSource>> = { Kysely: throughKysely, Drizzle: throughDrizzle };
const ways = Object.keys(sources).flatMap((by) => engineNames.map((name): [string, EngineName] => [by, name]));

describe.each(ways)("the corpus pagination through %s on %s", (by, name) => {
  let engine: Engine;
  let source: ReturnType<OpenSource>;
  let shop: Awaited<ReturnType<typeof pagedTables>>;
  beforeAll(async () => {
    const place = `portico_corpus_${randomUUID().slice(0, 8)}`;
    engine = await openEngine(name, place, join(tmpdir(), `${place}.sqlite`));
    await createShopTables(engine);
    source = (sources[by] as OpenSource)(engine);
    shop = await pagedTables(engine, source);
  });
  afterAll(async () => {
    await shop?.close();
    await source?.close?.();
    await engine?.close();
  });

  // The titles are needed before the shop is open.
  const closed = {} as PagedShop;
  for (const rows of [pageNumbers, offsets, cursors, connections, properties, changes])
    it.each(Object.keys(rows(closed)))("pagination %s", async (title) => {
      await rows(shop)[title]?.();
      expect((await shop.send("/books")).verdict).toBe("200");
    });

  it.each(Object.keys(options({} as ListSource)))("pagination %s", async (title) => {
    await options(source)[title]?.();
    expect((await shop.send("/books")).verdict).toBe("200");
  });
});
