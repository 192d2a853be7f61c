import { ConfigurationError } from "../core/configuration-error.ts";

/** The engines that a table handler speaks to. MariaDB speaks MySQL's dialect. */
export type SqlDialect = "postgres" | "mysql" | "sqlite";

/** The dialect of a statement that has a limit, by how it quotes names and numbers parameters. */
export function dialectOf(text: string): SqlDialect {
  if (text.includes("`")) return "mysql";
  if (/ limit \$\d+/.test(text)) return "postgres";
  if (/ limit \?/.test(text) && text.includes('"')) return "sqlite";
  throw new ConfigurationError("tableHandler", "speaks to PostgreSQL, MySQL, MariaDB and SQLite, not to this dialect");
}

/** Whether a null comes after every other value in ascending order; else it comes before. */
export function isNullLast(dialect: SqlDialect): boolean {
  return dialect === "postgres";
}
