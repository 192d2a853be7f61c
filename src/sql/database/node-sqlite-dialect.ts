import {
  type DatabaseIntrospector,
  type Dialect,
  type DialectAdapter,
  type Driver,
  type Kysely,
  type QueryCompiler,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from "kysely";
import { SqliteDriver, type SqliteDriverOptions } from "./sqlite-driver.ts";

/** SQLite through `node:sqlite`, which is loaded by the first statement. */
export class NodeSqliteDialect implements Dialect {
  readonly #options: SqliteDriverOptions;

  constructor(options: SqliteDriverOptions) {
    this.#options = options;
  }
  createDriver(): Driver {
    return new SqliteDriver(this.#options);
  }
  createQueryCompiler(): QueryCompiler {
    return new SqliteQueryCompiler();
  }
  createAdapter(): DialectAdapter {
    return new NodeSqliteAdapter();
  }
  createIntrospector(database: Kysely<any>): DatabaseIntrospector {
    return new SqliteIntrospector(database);
  }
}

class NodeSqliteAdapter extends SqliteAdapter {
  /** The driver itself orders connections, and readers never wait. */
  override get supportsMultipleConnections(): boolean {
    return true;
  }
}
