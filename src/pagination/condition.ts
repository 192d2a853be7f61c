import { checkColumn, checkTable, checkValue, typeName } from "./check-value.ts";

/** A value that a column is compared with. */
export type ConditionValue = string | number | bigint | boolean | Date | null;
/** A value other than null, which has its own kind of condition. */
export type PresentValue = Exclude<ConditionValue, null>;

/**
 * The structure of a condition, for code that compiles it. A rule compares exactly, as `===` does. A loose comparison is that
 * of a filter, in which the column's collation and type decide.
 */
export type ConditionNode =
  | { readonly kind: "always" | "never" }
  | { readonly kind: "null"; readonly column: string }
  | { readonly kind: "equal"; readonly column: string; readonly value: PresentValue; readonly isLoose?: true }
  /** At least two values, all different and of one type. */
  | { readonly kind: "in"; readonly column: string; readonly values: readonly PresentValue[]; readonly isLoose?: true }
  /** A null is neither less nor greater than a value. */
  | {
      readonly kind: "compare";
      readonly column: string;
      readonly operator: "<" | "<=" | ">" | ">=";
      readonly value: number | bigint | Date;
    }
  /** The text begins with the value, which is not empty. */
  | { readonly kind: "prefix"; readonly column: string; readonly value: string }
  /** The value is in a column of another table, in a row that meets `where`. A null is in no table. */
  | ({ readonly kind: "related"; readonly column: string; readonly from: string; readonly key: string } & {
      readonly where: ConditionNode;
    })
  | { readonly kind: "all" | "any"; readonly of: readonly ConditionNode[] }
  | { readonly kind: "not"; readonly of: ConditionNode };

/**
 * A condition on the columns `C` of a row, created by `isEqual`, `isIn` and `isNull`. It is true or false for every row,
 * also where a column is null.
 */
export interface Condition<out C extends string = string> {
  /** Required, because `{}` is assignable to any type with only optional keys. */
  readonly "~kind": "condition";
  /** Its structure, for a data handler that compiles it. */
  readonly "~condition": ConditionNode;
  readonly "~columns"?: C;
}

/** Rows of another table, for `isIn`. */
export interface RelatedRows {
  /** The table, with its schema if it has one: `order_lines` or `shop.order_lines`. */
  readonly from: string;
  /** The column of that table which holds the values. */
  readonly column: string;
  /** A condition on the rows of that table. @default all rows */
  readonly where?: Condition;
}

/**
 * Matches rows whose column has exactly this value, where `null` matches rows with null. Text is compared as `===` does,
 * whatever the column's collation is, and `"01"` is not the number 1. Throws `TypeError` for `undefined`, so that a missing value never widens a list.
 *
 * @example
 * ```ts
 * import { isEqual } from "portico";
 *
 * const ofSeller = (sellerId: string) => isEqual("seller_id", sellerId);
 * ```
 */
export function isEqual<const C extends string>(column: C, value: ConditionValue): Condition<C> {
  checkColumn("isEqual", column);
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
  return new Term(relatedNode(column, values as RelatedRows));
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

/** Returns a condition whose equalities are those of filters: the column's collation and type decide. */
export function loosely(condition: Condition): Condition {
  return new Term(loose(condition["~condition"]));
}

function loose(node: ConditionNode): ConditionNode {
  if (node.kind === "any") return { kind: "any", of: node.of.map(loose) };
  return node.kind === "equal" || node.kind === "in" ? { ...node, isLoose: true } : node;
}

/** Matches rows whose column is before or after the value. */
export function isCompared<const C extends string>(
  column: C,
  operator: "<" | "<=" | ">" | ">=",
  value: number | bigint | Date,
): Condition<C> {
  return new Term({ kind: "compare", column, operator, value });
}

/** Matches rows whose column begins with the text. The engine compares text by the column's collation. */
export function isPrefixed<const C extends string>(column: C, value: string): Condition<C> {
  return new Term({ kind: "prefix", column, value });
}

class Term<C extends string> implements Condition<C> {
  declare readonly "~columns"?: C;
  readonly "~kind" = "condition" as const;
  readonly "~condition": ConditionNode;
  constructor(node: ConditionNode) {
    this["~condition"] = node;
  }
}

/** Matches every row. */
export const ALWAYS: Condition<never> = new Term<never>({ kind: "always" });
/** Matches no row. */
export const NEVER: Condition<never> = new Term<never>({ kind: "never" });

/** Whether a value was created by this module. A look-alike from a request body is not a condition. */
export function isCondition(value: unknown): value is Condition {
  return value instanceof Term;
}

/** Matches rows that meet all conditions. */
export function allOf<C extends string>(conditions: readonly Condition<C>[]): Condition<C> {
  return new Term(combined("all", conditions));
}

/** Matches rows that meet at least one of the conditions. */
export function anyOf<C extends string>(conditions: readonly Condition<C>[]): Condition<C> {
  return new Term(combined("any", conditions));
}

/** Matches rows that do not meet the condition. */
export function inverse<C extends string>(condition: Condition<C>): Condition<C> {
  const node = condition["~condition"];
  if (node.kind === "not") return new Term(node.of);
  if (node.kind === "always") return NEVER;
  return node.kind === "never" ? ALWAYS : new Term({ kind: "not", of: node });
}

function combined(kind: "all" | "any", conditions: readonly Condition[]): ConditionNode {
  // "never" decides a conjunction, and "always" a disjunction. The other one is left out.
  const [decisive, neutral] = kind === "all" ? (["never", "always"] as const) : (["always", "never"] as const);
  const nodes = conditions
    .map((condition) => condition["~condition"])
    .flatMap((node) => (node.kind === kind ? node.of : [node]))
    .filter((node) => node.kind !== neutral);
  if (nodes.some((node) => node.kind === decisive)) return { kind: decisive };
  const [only] = nodes;
  if (only === undefined) return { kind: neutral };
  return nodes.length === 1 ? only : { kind, of: nodes };
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

function relatedNode(column: string, rows: RelatedRows): ConditionNode {
  if (typeof rows !== "object" || rows === null)
    throw new TypeError(
      `isIn("${column}", ...) requires a list of values or { from, column, where }, received ${typeName(rows)}`,
    );
  const { from, column: key, ...others } = rows;
  checkTable(`isIn("${column}", ...).from`, from);
  checkColumn(`isIn("${column}", ...).column`, key);
  for (const name of Object.keys(others))
    if (name !== "where") throw new TypeError(`isIn("${column}", ...) has no option ${name}`);
  // `where: undefined` is rejected too, because a missing condition would match all rows of the table.
  if ("where" in others && !isCondition(others.where))
    throw new TypeError(`isIn("${column}", ...).where must be a condition, received ${typeName(others.where)}`);
  const where: ConditionNode = others.where?.["~condition"] ?? { kind: "always" };
  return where.kind === "never" ? where : { kind: "related", column, from, key, where };
}
