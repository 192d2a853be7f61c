import { AndNode, type OperationNode, ParensNode } from "kysely";
import type { RangeOperator } from "../../pagination/conditions/condition.ts";
import type { SqlDialect } from "../statements/sql-dialect.ts";
import { anyOfNodes, binary, isNull, sqlOf } from "./binary.ts";
import { exactText } from "./exact-match.ts";
import { areOrdered, OPPOSITE } from "./range-expression.ts";

/** Returns a comparison of two columns of a row. Two nulls are equal, and in no range. */
export function columnsExpression(
  dialect: SqlDialect,
  operator: "=" | RangeOperator,
  one: OperationNode,
  other: OperationNode,
  isInverted: boolean,
): OperationNode {
  if (operator === "=") return isInverted ? sqlOf("(not $)", same(dialect, one, other)) : same(dialect, one, other);
  const ordered = [one, other].flatMap((column) => areOrdered(dialect, column, "numbers or times"));
  if (!isInverted) return ParensNode.create([binary(one, operator, other), ...ordered].reduce(AndNode.create));
  const unordered = ordered.map((node) => sqlOf("not $", node));
  return anyOfNodes(binary(one, OPPOSITE[operator], other), isNull(one), isNull(other), ...unordered);
}

/** Whether two columns have the same value, as `===` compares it. It is true or false, also for null. */
function same(dialect: SqlDialect, one: OperationNode, other: OperationNode): OperationNode {
  switch (dialect) {
    case "postgres":
      // Text by its characters, and a number by its value, whatever its type and its scale are.
      return sqlOf("(to_jsonb($) is not distinct from to_jsonb($))", one, other);
    case "mysql": {
      // MySQL would convert a text to compare it with a number. Only text has a character set other than binary.
      const [isOneNoText, isOtherNoText] = [one, other].map((column) => sqlOf("(charset($) = 'binary')", column)) as [
        OperationNode,
        OperationNode,
      ];
      const isExact = binary(exactText(dialect, one), "=", exactText(dialect, other));
      const alike = sqlOf("($ = $ and ($ or $))", isOneNoText, isOtherNoText, isOneNoText, isExact);
      return sqlOf("($ <=> $ and ($ is null or $))", one, other, one, alike);
    }
    case "sqlite":
      // SQLite would convert a text to compare it with a number.
      return sqlOf(
        "($ is $ collate binary and replace(typeof($), 'real', 'integer') = replace(typeof($), 'real', 'integer'))",
        one,
        other,
        one,
        other,
      );
  }
}
