import type { Column, SQL, Subquery } from "drizzle-orm";
import { createQueryId, createSelectQueryBuilder } from "kysely";
import { TableHandler, type TableHandlerOptions } from "../sql/lists/table-handler.ts";
import type { AnyQuery } from "../sql/statements/any-query.ts";
import { drizzleExecutor } from "./drizzle-executor.ts";
import { FieldColumns } from "./field-columns.ts";
import { OpenQuery } from "./open-query.ts";
import { selectNode } from "./select-node.ts";
import { selectedFields } from "./selected-fields.ts";

/** A select query of a Drizzle database, such as `db.select().from(books)`. */
export interface DrizzleSelect {
  readonly _: {
    readonly tableName: string | undefined;
    readonly selection: unknown;
    readonly selectMode: string;
    readonly result: readonly unknown[];
  };
  getSQL(): SQL;
}

/** The rows of a Drizzle query. */
export type DrizzleRow<Q extends DrizzleSelect> = Q["_"]["result"][number];

/**
 * The names of the fields of a Drizzle query, without nested objects. After a join without a selection, they are those of
 * the first table.
 */
export type DrizzleField<Q extends DrizzleSelect> = PlainField<
  Q["_"]["selectMode"] extends "multiple"
    ? Q["_"]["selection"][Q["_"]["tableName"] & keyof Q["_"]["selection"]]
    : Q["_"]["selection"]
>;

type PlainField<S> = {
  [K in Extract<keyof S, string>]: S[K] extends Column | SQL | SQL.Aliased | Subquery ? K : never;
}[Extract<keyof S, string>];

export interface DrizzleHandlerOptions<F extends string> extends Omit<TableHandlerOptions<unknown, F>, "uniqueKey"> {
  /** Fields that together identify a row. @default ["id"] */
  readonly uniqueKey?: readonly F[];
}

/** The options that a query without `id` needs. */
export type DrizzleHandlerArguments<F extends string> = "id" extends F
  ? [options?: DrizzleHandlerOptions<F>]
  : [options: DrizzleHandlerOptions<F> & Required<Pick<DrizzleHandlerOptions<F>, "uniqueKey">>];

/**
 * Returns the rows of a Drizzle query as a list source, on the query's database or transaction. It sends the statements
 * that `tableHandler` would send for the same query, so they have the same plans. Rows are mapped by Drizzle.
 *
 * The order of the strategy, filters and rules refer to fields by their names in the rows, such as `createdAt`, or to
 * other properties of the first table.
 *
 * Throws `ConfigurationError` if the query has a limit, a set operation or a lock, or lacks a field of `uniqueKey`.
 *
 * @example
 * ```ts
 * import { drizzle } from "drizzle-orm/node-postgres";
 * import { pgTable, timestamp, uuid } from "drizzle-orm/pg-core";
 * import { PorticoApp } from "portico";
 * import { drizzleHandler } from "portico/drizzle";
 * import { CursorPagination } from "portico/pagination";
 *
 * const books = pgTable("books", { id: uuid().primaryKey(), createdAt: timestamp("created_at").notNull() });
 * const db = drizzle("postgres://localhost/shop");
 * const newest = new CursorPagination({ order: [["createdAt", "desc"]] });
 *
 * new PorticoApp().get("/books", ({ response }) =>
 *   response.apaginate(drizzleHandler(db.select().from(books)), { strategy: newest }),
 * );
 * ```
 */
export function drizzleHandler<Q extends DrizzleSelect>(
  query: Q,
  ...[options]: DrizzleHandlerArguments<DrizzleField<Q>>
): TableHandler<DrizzleRow<Q>, DrizzleField<Q>> {
  const open = new OpenQuery(query);
  const fields = selectedFields(open.config.fields);
  const columns = new FieldColumns(open, fields);
  for (const field of options?.uniqueKey ?? ["id"]) columns.checkUnique(field);
  for (const field of Object.keys(options?.among ?? {})) columns.check(field);
  const built = createSelectQueryBuilder<any, any, any>({
    queryId: createQueryId(),
    queryNode: selectNode(open, fields),
    executor: drizzleExecutor(open, columns.plugins),
  });
  return TableHandler["~of"](
    built as AnyQuery,
    options as TableHandlerOptions<DrizzleRow<Q>, DrizzleField<Q>>,
    columns,
  );
}
