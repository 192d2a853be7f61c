import type { QueryResult, RawBuilder } from "kysely";
import { noteUse } from "../statements/prepared-name.ts";
import type { Database } from "./database.ts";

/** Runs a statement with a fixed text. In a pool with named statements, PostgreSQL prepares it once. */
export function runNamed<Row>(database: Database, statement: RawBuilder<Row>): Promise<QueryResult<Row>> {
  const query = statement.compile(database);
  noteUse(query.sql);
  return database.executeQuery(query);
}
