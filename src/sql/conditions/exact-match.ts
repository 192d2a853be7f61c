import { type OperationNode, RawNode } from "kysely";
import type { SqlDialect } from "../statements/sql-dialect.ts";
import { comparedValues } from "./compared-values.ts";

/**
 * Returns a condition that is true only if the column has one of the values exactly, as `===` in JavaScript would. On its own,
 * `=` compares text by the column's collation, which may ignore case, accents and spaces at the end, and converts it to the
 * column's type: `"01"` is 1. It is used together with `=`, which an index can serve. Returns `null` if `=` is exact.
 */
export function exactMatch(
  dialect: SqlDialect,
  column: OperationNode,
  values: readonly unknown[],
  isInverted: boolean,
): OperationNode | null {
  if (typeof values[0] === "string") return comparison(dialect, exactText(dialect, column), values, isInverted);
  // MySQL converts a text column to a number, if necessary to 0.
  if (dialect !== "mysql") return null;
  const texts = values.map((value) => String(typeof value === "boolean" ? Number(value) : value));
  return comparison(dialect, column, texts, isInverted);
}

function comparison(
  dialect: SqlDialect,
  left: OperationNode,
  values: readonly unknown[],
  isInverted: boolean,
): OperationNode {
  const [operator, right] = comparedValues(dialect, values, isInverted);
  const matches = RawNode.create(["", ` ${operator} `, ""], [left, right]);
  // PostgreSQL would multiply the estimates of two equalities as if they were independent.
  return dialect === "postgres" ? RawNode.create(["case when ", " then true else false end"], [matches]) : matches;
}

/** Returns the value of a column as text that is equal only to itself. */
export function exactText(dialect: SqlDialect, column: OperationNode): OperationNode {
  switch (dialect) {
    case "postgres":
      return RawNode.create(["", '::text collate "C"'], [column]);
    case "mysql":
      return RawNode.create(["cast(convert(", " using utf8mb4) as binary)"], [column]);
    case "sqlite":
      // A cast has the collation of what it casts.
      return RawNode.create(["(cast(", " as text) collate binary)"], [column]);
  }
}

/** Returns several values as one, which is compared with the rows of a subquery. */
export function rowOf(values: readonly OperationNode[]): OperationNode {
  return RawNode.create(["(", ...values.slice(1).map(() => ", "), ")"], values);
}

/** Returns several texts as one in MySQL, which differs if one of them does: hexadecimal digits contain no comma. */
export function joinedTexts(texts: readonly OperationNode[]): OperationNode {
  const [first = "", ...others] = texts.map((_text, at) => (at === 0 ? "concat(hex(" : "), ',', hex("));
  return RawNode.create([first, ...others, "))"], texts);
}
