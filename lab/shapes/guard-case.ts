import * as fc from "fast-check";
import { column as columnOf, exists, isEqual, isIn, isInRange } from "../../src/index.ts";
import { ALWAYS, allOf, anyOf, type Condition, inverse, NEVER } from "../../src/pagination/conditions/condition.ts";

/** The tables: `a`, `b` and `m` have rules, and `c` is open. */
export const guardTables = ["a", "b", "m", "c"] as const;
export type GuardTable = (typeof guardTables)[number];

export interface GuardRow {
  readonly id: number;
  readonly org: number | null;
  readonly ref: number | null;
}
export type GuardData = Readonly<Record<GuardTable, readonly GuardRow[]>>;

/** A condition of a rule. `"caller"` is the number of the caller. */
export type GuardRule =
  | { readonly kind: "always" | "never" }
  | { readonly kind: "equal"; readonly column: string; readonly value: number | "caller" | null }
  | { readonly kind: "less"; readonly column: string; readonly value: number }
  | { readonly kind: "in"; readonly column: string; readonly values: readonly number[] }
  | { readonly kind: "columns" }
  | { readonly kind: "related"; readonly column: string; readonly from: string; readonly where: GuardRule }
  | { readonly kind: "exists"; readonly column: string; readonly from: string; readonly where: GuardRule }
  | { readonly kind: "all" | "any"; readonly of: readonly GuardRule[] }
  | { readonly kind: "not"; readonly of: GuardRule };

/** Returns a rule as the condition for a caller. */
export function guardCondition(rule: GuardRule, caller: number): Condition {
  const inner = (one: GuardRule): Condition => guardCondition(one, caller);
  switch (rule.kind) {
    case "always":
      return ALWAYS;
    case "never":
      return NEVER;
    case "equal":
      return isEqual(rule.column, rule.value === "caller" ? caller : rule.value);
    case "less":
      return isInRange(rule.column, { lt: rule.value });
    case "in":
      return isIn(rule.column, rule.values);
    case "columns":
      return isEqual("org", columnOf("ref"));
    case "related":
      return isIn(rule.column, { from: rule.from, column: rule.column, where: inner(rule.where) });
    case "exists":
      return exists({ from: rule.from, on: { [rule.column]: rule.column }, where: inner(rule.where) });
    case "all":
      return allOf(rule.of.map(inner));
    case "any":
      return anyOf(rule.of.map(inner));
    case "not":
      return inverse(inner(rule.of));
  }
}

/** A query, which has the columns `id`, `org` and `ref`, so that it can stand for a table. */
export interface GuardQuery {
  readonly table: string;
  readonly alias: boolean;
  readonly limit: number | null;
  readonly where: readonly (
    | { readonly kind: "less" | "raw or"; readonly column: string; readonly value: number }
    | {
        readonly kind: "exists" | "not exists" | "in";
        readonly table: string;
        readonly column: string;
        readonly viaRoot: boolean;
      }
  )[];
  readonly joins: readonly { readonly type: GuardJoin; readonly table: string; readonly column: string }[];
  readonly group: boolean;
  readonly wrap: boolean;
  readonly scalar: boolean;
  readonly cte: {
    readonly name: string;
    readonly recursive: boolean;
    readonly second: boolean;
    readonly query: GuardQuery;
  } | null;
  readonly set: { readonly op: "union" | "unionAll" | "except" | "intersect"; readonly query: GuardQuery } | null;
}
const joins = ["inner", "left", "right", "full", "cross", "lateral", "leftLateral"] as const;
type GuardJoin = (typeof joins)[number];

/** A write. Inserted rows get ids above 100, except those of an upsert. */
export interface GuardWrite {
  readonly kind: "update" | "update from" | "insert" | "insert select" | "upsert" | "delete" | "delete using";
  readonly table: GuardTable;
  readonly other: GuardTable;
  readonly set: "org" | "ref";
  readonly to: number | null;
  readonly by: "org" | "ref";
  readonly value: number;
  readonly rows: readonly GuardRow[];
  readonly returning: boolean;
  readonly alias: boolean;
  /** Whether it is in WITH, which SQLite doesn't allow. */
  readonly inCte: boolean;
}

const value = fc.integer({ min: 0, max: 3 });
const column = fc.constantFrom("org" as const, "ref" as const);
const table = fc.constantFrom<GuardTable[]>("a", "b", "m");
const named = fc.constantFrom("a", "b", "m", "c", "x");

const { rule } = fc.letrec<{ rule: GuardRule }>((tie) => ({
  rule: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.record({
      kind: fc.constant("equal" as const),
      column,
      value: fc.oneof(value, fc.constant("caller" as const), fc.constant(null)),
    }),
    fc.record({ kind: fc.constant("less" as const), column, value }),
    fc.record({
      kind: fc.constantFrom("always" as const, "never" as const, "columns" as const),
    }) as fc.Arbitrary<GuardRule>,
    fc.record({ kind: fc.constant("in" as const), column, values: fc.array(value, { maxLength: 3 }) }),
    fc.record({
      kind: fc.constantFrom("related" as const, "exists" as const),
      column,
      from: table,
      where: tie("rule"),
    }),
    fc.record({ kind: fc.constantFrom("all" as const, "any" as const), of: fc.array(tie("rule"), { maxLength: 3 }) }),
    fc.record({ kind: fc.constant("not" as const), of: tie("rule") }),
  ),
}));

const rows: fc.Arbitrary<readonly GuardRow[]> = fc.uniqueArray(
  fc.record({ id: fc.integer({ min: 1, max: 9 }), org: fc.option(value), ref: fc.option(value) }),
  { selector: (row) => row.id, maxLength: 6 },
);

const { query } = fc.letrec<{ query: GuardQuery }>((tie) => ({
  query: fc.record({
    table: named,
    alias: fc.boolean(),
    limit: fc.option(fc.integer({ min: 1, max: 3 }), { freq: 4 }),
    where: fc.array(
      fc.oneof(
        fc.record({ kind: fc.constantFrom("less" as const, "raw or" as const), column, value }),
        fc.record({
          kind: fc.constantFrom("exists" as const, "not exists" as const, "in" as const),
          table: named,
          column,
          viaRoot: fc.boolean(),
        }),
      ),
      { maxLength: 2 },
    ),
    joins: fc.array(fc.record({ type: fc.constantFrom(...joins), table: named, column }), { maxLength: 2 }),
    group: fc.boolean(),
    wrap: fc.boolean(),
    scalar: fc.boolean(),
    cte: fc.option(
      fc.record({
        name: fc.constantFrom("x", "a", "b"),
        recursive: fc.boolean(),
        second: fc.boolean(),
        query: tie("query"),
      }),
      { freq: 3, maxDepth: 2, nil: null },
    ),
    set: fc.option(
      fc.record({
        op: fc.constantFrom("union" as const, "unionAll" as const, "except" as const, "intersect" as const),
        query: tie("query"),
      }),
      { freq: 3, maxDepth: 2, nil: null },
    ),
  }),
}));

const write: fc.Arbitrary<GuardWrite> = fc.record({
  kind: fc.constantFrom<GuardWrite["kind"][]>(
    "update",
    "update from",
    "insert",
    "insert select",
    "upsert",
    "delete",
    "delete using",
  ),
  table,
  other: table,
  set: column,
  to: fc.option(value),
  by: column,
  value,
  rows: rows.filter((list) => list.length > 0),
  returning: fc.boolean(),
  alias: fc.boolean(),
  inCte: fc.boolean(),
});

/** Tables, their rules, and what callers do with them. */
export interface GuardCase {
  readonly data: GuardData;
  readonly read: Readonly<Record<string, GuardRule>>;
  readonly write: Readonly<Record<string, GuardRule>>;
  readonly queries: readonly GuardQuery[];
  readonly writes: readonly GuardWrite[];
}

const rules = fc.record({ a: rule, b: rule, m: rule });

export const guardCase: fc.Arbitrary<GuardCase> = fc.record({
  data: fc.record({ a: rows, b: rows, m: rows, c: rows }),
  read: rules,
  write: rules,
  queries: fc.array(query, { minLength: 12, maxLength: 12 }),
  writes: fc.array(write, { minLength: 6, maxLength: 6 }),
});
