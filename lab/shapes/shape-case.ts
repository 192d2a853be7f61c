import * as fc from "fast-check";
import type { Direction } from "../../src/pagination/index.ts";
import { organisations, titles, users } from "./shape-tables.ts";

/** Where a query takes its rows from. */
const sources = [
  "table",
  "alias",
  "alias like the related table",
  "schema",
  "subquery",
  "subquery with names",
  "with",
  "with like the related table",
  "union",
  "inner join",
  "left join",
  "self-join",
] as const;
type ShapeSource = (typeof sources)[number];

/** How a query selects its columns. */
const selections = [
  "all",
  "all of the table",
  "names",
  "all, then names",
  "names, then all",
  "all of the joined table",
] as const;
type ShapeSelection = (typeof selections)[number];

/** How the column that the rule compares is selected by its name. */
const organisationForms = ["bare", "qualified", "renamed", "raw", "lower", "coalesce", "parameter", "case"] as const;
type OrganisationForm = (typeof organisationForms)[number];

const rankForms = ["bare", "qualified", "negated", "raw"] as const;
type RankForm = (typeof rankForms)[number];

const bounds = ["gt", "gte", "lt", "lte"] as const;
type Bound = (typeof bounds)[number];

/** A condition of a rule on the field of the organisation. */
export type ShapeRule =
  | { readonly kind: "equal"; readonly value: string | null }
  | { readonly kind: "in"; readonly values: readonly (string | null)[] }
  | { readonly kind: "member"; readonly user: string }
  | { readonly kind: "owned"; readonly title: string }
  | { readonly kind: "member of an owner"; readonly user: string; readonly title: string }
  | { readonly kind: "present" }
  | { readonly kind: "prefix"; readonly value: string }
  | { readonly kind: "range"; readonly column: "rank" | "parent_id"; readonly bound: Bound; readonly value: number }
  | { readonly kind: "columns"; readonly bound: Bound | "equal" }
  | { readonly kind: "itself" }
  | { readonly kind: "owner in the organisation"; readonly title: string }
  | { readonly kind: "any owner"; readonly title: string }
  | { readonly kind: "not"; readonly of: ShapeRule }
  | { readonly kind: "all" | "any"; readonly of: readonly [ShapeRule, ShapeRule] };

/** A filter of the client. */
export type ShapeFilter =
  | { readonly column: "rank"; readonly test: "equal" | "lt" | "gte"; readonly value: number }
  | { readonly column: "rank"; readonly test: "isNull"; readonly value: boolean }
  | { readonly column: "name"; readonly test: "startsWith"; readonly value: string };

/** What a list does with the rows of a query. */
export interface ListCase {
  readonly rule: ShapeRule;
  readonly filter: ShapeFilter | null;
  readonly sort: { readonly column: "id" | "rank"; readonly direction: Direction };
  readonly size: number;
}

/** A query, and what a list does with its rows. */
export interface ShapeCase extends ListCase {
  readonly source: ShapeSource;
  readonly selection: ShapeSelection;
  readonly organisation: OrganisationForm;
  readonly rank: RankForm;
}

const organisation = fc.constantFrom(...organisations);
const rule: fc.Arbitrary<ShapeRule> = fc.letrec<{ rule: ShapeRule; leaf: ShapeRule }>((tie) => ({
  leaf: fc.oneof(
    fc.record({ kind: fc.constant("equal" as const), value: organisation }),
    fc.record({
      kind: fc.constant("in" as const),
      values: fc.uniqueArray(organisation, { minLength: 1, maxLength: 3 }),
    }),
    fc.record({ kind: fc.constant("member" as const), user: fc.constantFrom(...users) }),
    fc.record({ kind: fc.constant("owned" as const), title: fc.constantFrom(...titles) }),
    fc.record({
      kind: fc.constant("member of an owner" as const),
      user: fc.constantFrom(...users),
      title: fc.constantFrom(...titles),
    }),
    fc.constantFrom<ShapeRule>({ kind: "present" }, { kind: "itself" }),
    fc.record({
      kind: fc.constant("prefix" as const),
      value: fc.constantFrom("a", "ac", "AC", "ä", "acme ", "0", "1"),
    }),
    fc.record({
      kind: fc.constant("range" as const),
      column: fc.constantFrom("rank" as const, "parent_id" as const),
      bound: fc.constantFrom(...bounds),
      value: fc.constantFrom(-1.5, 0, 1, 2, 2.5, 2 ** 40),
    }),
    fc.record({ kind: fc.constant("columns" as const), bound: fc.constantFrom(...bounds, "equal" as const) }),
    fc.record({
      kind: fc.constantFrom("owner in the organisation" as const, "any owner" as const),
      title: fc.constantFrom(...titles, "nobody"),
    }),
  ),
  rule: fc.oneof(
    { depthSize: "small", maxDepth: 2 },
    tie("leaf"),
    fc.record({ kind: fc.constant("not" as const), of: tie("rule") }),
    fc.record({ kind: fc.constantFrom("all" as const, "any" as const), of: fc.tuple(tie("rule"), tie("rule")) }),
  ),
})).rule;

const filter: fc.Arbitrary<ShapeFilter> = fc.oneof(
  fc.record({
    column: fc.constant("rank" as const),
    test: fc.constantFrom("equal" as const, "lt" as const, "gte" as const),
    value: fc.integer({ min: -4, max: 4 }),
  }),
  fc.record({ column: fc.constant("rank" as const), test: fc.constant("isNull" as const), value: fc.boolean() }),
  fc.record({
    column: fc.constant("name" as const),
    test: fc.constant("startsWith" as const),
    value: fc.constantFrom("p", "pa", "pab", "pc3"),
  }),
);

const list = {
  rule,
  filter: fc.option(filter),
  sort: fc.record({
    column: fc.constantFrom("id" as const, "rank" as const),
    direction: fc.constantFrom("asc" as const, "desc" as const),
  }),
  size: fc.integer({ min: 1, max: 8 }),
};

const shapeCase: fc.Arbitrary<ShapeCase> = fc.record({
  source: fc.constantFrom(...sources),
  // The others often have a name twice, which is refused.
  selection: fc.oneof({ weight: 2, arbitrary: fc.constant<ShapeSelection>("names") }, fc.constantFrom(...selections)),
  organisation: fc.constantFrom(...organisationForms),
  rank: fc.constantFrom(...rankForms),
  ...list,
});

/** Generates cases, which are the same for the same seed. */
export function generateShapes(count: number, seed: number): readonly ShapeCase[] {
  return fc.sample(shapeCase, { seed, numRuns: count });
}

/** Generates lists over one of the queries that applications write, by its number. */
export function generateForeignLists(count: number, seed: number, queries: number): readonly ForeignCase[] {
  return fc.sample(fc.record({ query: fc.nat(queries - 1), ...list }), { seed, numRuns: count });
}

/** A list over the query with a number. */
export interface ForeignCase extends ListCase {
  readonly query: number;
}

export const isJoin = ({ source }: ShapeCase): boolean => source.endsWith("join");

/** Whether the rule looks up another table. */
export function isRelated(node: ShapeRule): boolean {
  if (node.kind === "not") return isRelated(node.of);
  if (node.kind === "all" || node.kind === "any") return node.of.some(isRelated);
  return isLookup(node);
}

function isLookup({ kind }: ShapeRule): boolean {
  return ["member", "owned", "member of an owner", "owner in the organisation", "any owner"].includes(kind);
}
