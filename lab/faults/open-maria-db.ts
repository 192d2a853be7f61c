import { Kysely, MysqlDialect } from "kysely";
import { createPool } from "mysql2";

/** A custom Kysely instance: Portico itself opens no MariaDB. */
export function openMariaDb<Tables>(url: string): Kysely<Tables> {
  const pool = createPool({ uri: url, connectionLimit: 4, connectTimeout: 1_000, supportBigNumbers: true });
  return new Kysely<Tables>({ dialect: new MysqlDialect({ pool }) });
}
