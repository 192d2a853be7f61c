import { checkColumn, checkValue, typeName } from "./check-value.ts";
import { ColumnReference } from "./column.ts";
import { type Condition, type ConditionNode, type ConditionValue, inverse, Term } from "./condition.ts";
import { type RelatedRows, relatedRows } from "./exists.ts";

/**
 * Matches rows whose column has exactly this value, where `null` matches rows with null. Text is compared as `===` does,
 * whatever the column's collation is, and `"01"` is not the number 1. Throws `TypeError` for `undefined`, so that a missing
 * value never widens a list. `column(...)` compares with another column of the row; two nulls are equal.
 *
 * @example
 * ```ts
 * import { isEqual } from "portico";
 *
 * const ofSeller = (sellerId: string) => isEqual("seller_id", sellerId);
 * ```
 */
export function isEqual<const C extends string, const D extends string = never>(
  column: C,
  value: ConditionValue | ColumnReference<D>,
): Condition<C | D> {
  checkColumn("isEqual", column);
  if (value instanceof ColumnReference)
    return new Term({ kind: "columns", column, operator: "=", other: value["~column"] });
  checkValue("isEqual", column, value);
  return new Term(equalNode(column, value));
}

/**
 * Matches rows whose column has one of these values, or a value from a column of another table. An empty list matches
 * nothing. A null in the list matches rows with null, but a null in the other table matches nothing.
 *
 * @example
 * ```ts
 * import { isEqual, isIn } from "portico";
 *
 * const ofMember = (organisationIds: readonly string[]) => isIn("organisation_id", organisationIds);
 * const soldBy = (sellerId: string) =>
 *   isIn("id", { from: "order_lines", column: "order_id", where: isEqual("seller_id", sellerId) });
 * ```
 */
export function isIn<const C extends string>(column: C, values: readonly ConditionValue[] | RelatedRows): Condition<C> {
  checkColumn("isIn", column);
  if (Array.isArray(values)) return new Term(inNode(column, values as readonly ConditionValue[]));
  return relatedRows(column, values as RelatedRows);
}

/**
 * Matches rows whose column is null.
 *
 * @example
 * ```ts
 * import { isNull } from "portico";
 *
 * const unfinished = isNull("finished_at");
 * ```
 */
export function isNull<const C extends string>(column: C): Condition<C> {
  checkColumn("isNull", column);
  return new Term({ kind: "null", column });
}

/**
 * Matches rows whose column is not null.
 *
 * @example
 * ```ts
 * import { isNotNull } from "portico";
 *
 * const finished = isNotNull("finished_at");
 * ```
 */
export function isNotNull<const C extends string>(column: C): Condition<C> {
  checkColumn("isNotNull", column);
  return inverse(isNull(column));
}

/** Returns a condition whose comparisons are those of filters: the column's collation and type decide. */
export function loosely(condition: Condition): Condition {
  return new Term(loose(condition["~condition"]));
}

function loose(node: ConditionNode): ConditionNode {
  if (node.kind === "any") return { kind: "any", of: node.of.map(loose) };
  return node.kind === "equal" || node.kind === "in" || node.kind === "prefix" ? { ...node, isLoose: true } : node;
}

function equalNode(column: string, value: ConditionValue): ConditionNode {
  return value === null ? { kind: "null", column } : { kind: "equal", column, value };
}

function inNode(column: string, values: readonly ConditionValue[]): ConditionNode {
  for (const value of values) checkValue("isIn", column, value);
  const present = [...new Set(values)].filter((value) => value !== null);
  const types = new Set(present.map(typeName));
  if (types.size > 1)
    throw new TypeError(`isIn("${column}", ...) requires values of one type, received ${[...types].join(" and ")}`);
  const [first] = present;
  const listed: ConditionNode =
    first === undefined
      ? { kind: "never" }
      : // Databases plan an equality better than a list of one.
        present.length === 1
        ? { kind: "equal", column, value: first }
        : { kind: "in", column, values: present };
  if (!values.includes(null)) return listed;
  return first === undefined ? { kind: "null", column } : { kind: "any", of: [listed, { kind: "null", column }] };
}
