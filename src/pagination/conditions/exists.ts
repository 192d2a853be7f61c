import { checkColumn, checkTable, typeName } from "./check-value.ts";
import { type Condition, type ConditionNode, isCondition, NEVER, Term } from "./condition.ts";

/** Rows of another table, for `isIn`. */
export interface RelatedRows {
  /** The table, with its schema if it has one: `order_lines` or `shop.order_lines`. */
  readonly from: string;
  /** The column of that table which holds the values. */
  readonly column: string;
  /** A condition on the rows of that table. @default all rows */
  readonly where?: Condition;
}

/** A row of another table, for `exists`. */
export interface RelatedRow<C extends string = string> {
  /** The table, with its schema if it has one: `memberships` or `shop.memberships`. */
  readonly from: string;
  /** For each of these columns of that table, the column of the row that it equals: `{ project_id: "id" }`. @default none */
  readonly on?: Readonly<Record<string, C>>;
  /** A condition on the row of that table. @default all rows */
  readonly where?: Condition;
}

/**
 * Matches rows for which another table has a row. Columns in `on` are equal exactly, and null equals nothing. Without `on`, the
 * condition is the same for all rows of the list.
 *
 * @example
 * ```ts
 * import { exists, isEqual } from "portico";
 *
 * const shared = (userId: string) =>
 *   exists({
 *     from: "shares",
 *     on: { organisation_id: "organisation_id", document_id: "id" },
 *     where: isEqual("user_id", userId),
 *   });
 * ```
 */
export function exists<const C extends string = never>(row: RelatedRow<C>): Condition<C> {
  if (typeof row !== "object" || row === null)
    throw new TypeError(`exists requires { from, on, where }, received ${typeName(row)}`);
  const { from, ...others } = row;
  const { on = {} } = others;
  if ("on" in others && (typeof others.on !== "object" || others.on === null || Array.isArray(others.on)))
    throw new TypeError(
      `exists.on must be columns by name, such as { project_id: "id" }, received ${typeName(others.on)}`,
    );
  const pairs = Object.entries<string>(on).map(([key, column]) => {
    checkColumn("exists.on", key);
    checkColumn(`exists.on.${key}`, column);
    return { column, key };
  });
  return related("exists", from, pairs, others, ["on", "where"]);
}

/** Matches rows whose column has a value from a column of another table. */
export function relatedRows<const C extends string>(column: C, rows: RelatedRows): Condition<C> {
  const place = `isIn("${column}", ...)`;
  if (typeof rows !== "object" || rows === null)
    throw new TypeError(`${place} requires a list of values or { from, column, where }, received ${typeName(rows)}`);
  const { from, column: key, ...others } = rows;
  checkColumn(`${place}.column`, key);
  return related(place, from, [{ column, key }], others, ["where"]);
}

function related(
  place: string,
  from: string,
  on: readonly { readonly column: string; readonly key: string }[],
  options: { readonly where?: Condition },
  known: readonly string[],
): Condition<never> {
  checkTable(`${place}.from`, from);
  for (const name of Object.keys(options))
    if (!known.includes(name)) throw new TypeError(`${place} has no option ${name}`);
  // `where: undefined` is rejected too, because a missing condition would match all rows of the table.
  if ("where" in options && !isCondition(options.where))
    throw new TypeError(`${place}.where must be a condition, received ${typeName(options.where)}`);
  const where: ConditionNode = options.where?.["~condition"] ?? { kind: "always" };
  return where.kind === "never" ? NEVER : new Term({ kind: "related", on, from, where });
}
