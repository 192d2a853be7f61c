import type { SelectQueryBuilder } from "kysely";
import { drizzleHandler } from "../../src/drizzle/index.ts";
import { tableHandler } from "../../src/sql/index.ts";
import { openDrizzle, tableOf } from "../servers/drizzle-databases.ts";
import type { Engine } from "../servers/engines.ts";
import type { ListDeclaration } from "./list-declaration.ts";
import { columnTypes, tableName } from "./list-rows.ts";

/** The data handlers of generated lists. */
export interface ListSource {
  handlerOf(list: ListDeclaration): unknown;
  close(): Promise<void>;
}

/** Opens a source on the engine whose tables have been created. */
export type OpenSource = (engine: Engine) => ListSource;

/** @param make makes the data handler of a query: `tableHandler`, or one with a planted fault */
export function throughKysely(
  make: (query: SelectQueryBuilder<any, any, any>) => unknown = (query) => tableHandler(query),
): OpenSource {
  return ({ database }) => ({
    handlerOf: ({ table }) => make(database.selectFrom(tableName(table)).select(["id", "parent"])),
    close: async () => {},
  });
}

export const throughDrizzle: OpenSource = (engine) => {
  const drizzle = openDrizzle(engine);
  return {
    handlerOf: ({ table }) => {
      const rows = tableOf(engine.name, tableName(table), columnTypes);
      return drizzleHandler(drizzle.db.select({ id: rows["id"], parent: rows["parent"] } as never).from(rows) as never);
    },
    close: () => drizzle.close(),
  };
};
