import { type OperationNode, type OperatorNode, RawNode, ValueNode } from "kysely";
import type { SqlDialect } from "../sql-dialect.ts";

type Operator = Parameters<typeof OperatorNode.create>[0];

/**
 * Returns an operator and a pattern that an index on the column can be used for. SQLite's `like` ignores case, whatever
 * the column's collation is, so `glob` is used there.
 */
export function prefixPattern(dialect: SqlDialect, prefix: string): [Operator, OperationNode] {
  if (dialect === "sqlite") return [GLOB, ValueNode.create(`${prefix.replace(/[*?[]/g, "[$&]")}*`)];
  // MySQL has no default escape character if its mode is NO_BACKSLASH_ESCAPES.
  const escape = dialect === "mysql" ? "!" : "\\";
  const pattern = ValueNode.create(`${prefix.replace(/[%_!\\]/g, (one) => escaped(one, escape))}%`);
  if (dialect === "postgres") return ["like", pattern];
  return ["like", RawNode.create(["", " escape '!'"], [pattern])];
}

/**
 * Returns the least and the greatest text that begin with a prefix. If MariaDB reads an index for `like`, it finds only
 * what follows the prefix by a character from U+0020 to U+FFFF in some collations (utf8mb4_bin, utf8mb4_unicode_ci), so
 * the rows between these two are needed besides. The characters are repeated because all characters above U+FFFF are
 * equal in utf8mb4_unicode_ci.
 */
export function prefixBounds(prefix: string): [least: string, greatest: string] {
  return [prefix + "\0".repeat(32), prefix + "\u{10ffff}".repeat(32)];
}

// Kysely does not know the operator, but writes it as it is.
const GLOB = "glob" as Operator;

function escaped(character: string, escape: string): string {
  return character === "%" || character === "_" || character === escape ? escape + character : character;
}
