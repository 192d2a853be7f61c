import { ConfigurationError } from "../../core/configuration-error.ts";

/** The engines that a table handler supports. MariaDB uses MySQL's dialect. */
export type SqlDialect = "postgres" | "mysql" | "sqlite";
/** The engines of `openDatabase`, whose tables can have a guard. */
export type GuardedEngine = Exclude<SqlDialect, "mysql">;

/** Detects the dialect of a statement with a limit, by how it quotes names and numbers parameters. */
export function dialectOf(text: string): SqlDialect {
  if (text.includes("`")) return "mysql";
  if (/ limit \$\d+/.test(text)) return "postgres";
  if (/ limit \?/.test(text) && text.includes('"')) return "sqlite";
  throw new ConfigurationError("tableHandler", "supports PostgreSQL, MySQL, MariaDB and SQLite, but not this dialect");
}

/** Whether nulls come last in a direction, if a statement does not place them. */
export function isNullLastByDefault(dialect: SqlDialect, direction: "asc" | "desc"): boolean {
  return (dialect === "postgres") === (direction === "asc");
}
