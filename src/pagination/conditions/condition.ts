/** A value that a column is compared with. */
export type ConditionValue = string | number | bigint | boolean | Date | null;
/** A value other than null, which has its own kind of condition. */
export type PresentValue = Exclude<ConditionValue, null>;

/** A value that has an order which is the same everywhere. Text has none, because collations differ. */
export type RangeValue = number | bigint | Date;
export type RangeOperator = "<" | "<=" | ">" | ">=";

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
  /** A null is neither less nor greater than a value, and neither is a text. */
  | {
      readonly kind: "compare";
      readonly column: string;
      readonly operator: RangeOperator;
      readonly value: RangeValue;
    }
  /** Two columns of the row. Two nulls are equal, and in no range. */
  | {
      readonly kind: "columns";
      readonly column: string;
      readonly operator: "=" | RangeOperator;
      readonly other: string;
    }
  /** The text begins with the value, which is not empty. */
  | { readonly kind: "prefix"; readonly column: string; readonly value: string; readonly isLoose?: true }
  /** Another table has a row that meets `where` and whose keys are the values of these columns. A null is in no table. */
  | {
      readonly kind: "related";
      readonly on: readonly { readonly column: string; readonly key: string }[];
      readonly from: string;
      readonly where: ConditionNode;
    }
  | { readonly kind: "all" | "any"; readonly of: readonly ConditionNode[] }
  | { readonly kind: "not"; readonly of: ConditionNode };

/**
 * A condition on the columns `C` of a row, created by functions such as `isEqual` and `isIn`. It is true or false for every
 * row, also where a column is null.
 */
export interface Condition<out C extends string = string> {
  /** Required, because `{}` is assignable to any type with only optional keys. */
  readonly "~kind": "condition";
  /** Its structure, for a data handler that compiles it. */
  readonly "~condition": ConditionNode;
  readonly "~columns"?: C;
}

/** A condition with this structure. */
export class Term<C extends string> implements Condition<C> {
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
