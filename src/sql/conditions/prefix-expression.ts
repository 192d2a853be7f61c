import { AndNode, type OperationNode, ParensNode, RawNode, ValueNode } from "kysely";
import type { ConditionNode } from "../../pagination/conditions/condition.ts";
import type { SqlDialect } from "../statements/sql-dialect.ts";
import { anyOfNodes, binary, isNull, type Operator, sqlOf } from "./binary.ts";
import { exactText } from "./exact-match.ts";

type PrefixNode = Extract<ConditionNode, { readonly kind: "prefix" }>;

/** Returns whether a column begins with a text: by its collation for a filter, and as JavaScript compares it for a rule. */
export function prefixExpression(
  dialect: SqlDialect,
  column: OperationNode,
  { value, isLoose }: Pick<PrefixNode, "value" | "isLoose">,
  isInverted: boolean,
): OperationNode {
  const [operator, pattern] = prefixPattern(dialect, value);
  if (isInverted) {
    const exact = isLoose === true ? [] : [sqlOf("not $", exactPrefix(dialect, column, value))];
    return anyOfNodes(binary(column, `not ${operator}` as Operator, pattern), ...exact, isNull(column));
  }
  const starts = binary(column, operator, pattern);
  const [least, greatest] = prefixBounds(value);
  const found =
    dialect === "mysql"
      ? anyOfNodes(
          starts,
          sqlOf(
            "$ between $ and $ and concat($) like $",
            column,
            ValueNode.create(least),
            ValueNode.create(greatest),
            column,
            pattern,
          ),
        )
      : starts;
  return isLoose === true ? found : ParensNode.create(AndNode.create(found, exactPrefix(dialect, column, value)));
}

/** Whether the exact text of a column begins with a text. It is false for a number. */
function exactPrefix(dialect: SqlDialect, column: OperationNode, value: string): OperationNode {
  const [operator, pattern] = prefixPattern(dialect, value);
  const exact = binary(exactText(dialect, column), operator, pattern);
  switch (dialect) {
    case "postgres":
      // PostgreSQL would multiply the estimates of two patterns as if they were independent.
      return sqlOf("(case when $ then true else false end)", exact);
    case "mysql":
      return sqlOf("($ and charset($) <> 'binary')", exact, column);
    case "sqlite":
      return sqlOf("(typeof($) = 'text')", column);
  }
}

/**
 * Returns an operator and a pattern that an index on the column can be used for. SQLite's `like` ignores case, whatever
 * the column's collation is, so `glob` is used there.
 */
function prefixPattern(dialect: SqlDialect, prefix: string): [Operator, OperationNode] {
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
function prefixBounds(prefix: string): [least: string, greatest: string] {
  return [prefix + "\0".repeat(32), prefix + "\u{10ffff}".repeat(32)];
}

// Kysely does not know the operator, but writes it as it is.
const GLOB = "glob" as Operator;

function escaped(character: string, escape: string): string {
  return character === "%" || character === "_" || character === escape ? escape + character : character;
}
