import { ConfigurationError } from "../core/configuration-error.ts";

/** The engines that a table handler speaks to. MariaDB speaks MySQL's dialect. */
export type SqlDialect = "postgres" | "mysql" | "sqlite";

/** The dialect of a statement, by how its compiler quotes names and numbers parameters. */
export function dialectOf(statement: string): SqlDialect {
  if (statement.includes("`")) return "mysql";
  if (/"/.test(statement) && !/\[|@\d/.test(statement)) return /\$\d/.test(statement) ? "postgres" : "sqlite";
  throw new ConfigurationError("tableHandler", "speaks to PostgreSQL, MySQL, MariaDB and SQLite, not to this dialect");
}

/** Whether a null comes after every other value in ascending order; else it comes before. */
export function isNullLast(dialect: SqlDialect): boolean {
  return dialect === "postgres";
}
