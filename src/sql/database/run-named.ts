import type { QueryResult, RawBuilder } from "kysely";
import { noteUse } from "../statement-name.ts";
import type { Database } from "./database.ts";

/** Runs a statement whose text is always the same: a pool with named statements has PostgreSQL prepare it once. */
export function runNamed<Row>(database: Database, statement: RawBuilder<Row>): Promise<QueryResult<Row>> {
  const query = statement.compile(database);
  noteUse(query.sql);
  return database.executeQuery(query);
}
