import { type OperationNode, sql } from "kysely";
import type { Order } from "../../pagination/keys/order.ts";
import { type RelatedNode, relatedTexts } from "../conditions/condition-expression.ts";
import type { Among } from "../nested/items-among.ts";
import type { NestedSource } from "../nested/nested-reading.ts";
import { exactJson } from "../queries/exact-json.ts";
import { hasIndexFor } from "../queries/has-index-for.ts";
import { type PlanNeeds, planNeeds } from "../queries/plan-needs.ts";
import { keyOf, type QueryShape } from "../queries/query-shape.ts";
import { tableColumns } from "../queries/table-columns.ts";
import { type ValueShares, valueShares } from "../queries/value-shares.ts";
import type { AnyQuery } from "../statements/any-query.ts";
import type { SqlDialect } from "../statements/sql-dialect.ts";
import { parametersOf, runRaw, Statement } from "../statements/statement.ts";
import { columnOf, type Split } from "./splits-of.ts";

/** More values are never looked up one by one. */
const MAX_VALUES = 1_000;
const MAX_CALLERS = 1_000;

/** The values of a caller: how many, and which part of the table has one of them. */
interface Visible {
  readonly count: number;
  readonly share: number;
}

/**
 * Decides whether the lists of one query are merged from the index ranges of the values of a rule. The catalogue and the
 * statistics are read once for a shape, which is believed for a minute, and the number of a caller's values as often.
 */
export class MergeChoice {
  readonly #served = new Map<string, Promise<boolean>>();
  readonly #walkable = new Map<string, Promise<boolean>>();
  readonly #shares = new Map<string, Promise<ValueShares | null>>();
  readonly #types = new Map<string, Promise<string | null>>();
  readonly #visible = new Map<string, Promise<Visible | null>>();

  static of(shape: QueryShape): MergeChoice {
    const known = choices.get(shape) ?? new MergeChoice();
    choices.set(shape, known);
    return known;
  }

  /**
   * Returns the values of the rule if looking up each of them costs less than walking the order until a page of visible rows is
   * found, by the statistics, or if no index has the order alone; otherwise `null`. An index must begin with the column. Only PostgreSQL needs the choice: SQLite merges by itself.
   */
  async amongFor(source: NestedSource, split: Split, order: Order, limit: number): Promise<Among | null> {
    if (source.shape.dialect !== "postgres") return null;
    const among = await this.#among(source, split, order);
    if (among === null || !(await once(this.#walkable, keyOf(order), () => isWalkable(source, order)))) return among;
    const visible = await this.#visibleOf(source, split, among);
    if (visible === null || visible.count > MAX_VALUES) return null;
    const { count, share } = visible;
    return count + Math.min(count, limit) < limit / share ? among : null;
  }

  /**
   * Returns the values of the rule if each list of some parents is merged from their rows; otherwise `null`. Statistics don't tell
   * which part of the rows of one parent are visible: usually all of them, because they are of one tenant. So the lists are merged
   * if looking all values up costs no more than another page. An index must begin with the column and those of the parents.
   */
  async amongBelow(
    source: NestedSource,
    split: Split,
    parents: readonly string[],
    order: Order,
    limit: number,
  ): Promise<Among | null> {
    if (source.shape.dialect !== "postgres" || parents.includes(columnOf(split))) return null;
    const among = await this.#among(source, split, order, parents);
    const visible = among === null ? null : await this.#visibleOf(source, split, among);
    return visible !== null && 2 * visible.count <= limit ? among : null;
  }

  async #among(
    source: NestedSource,
    split: Split,
    order: Order,
    parents: readonly string[] = [],
  ): Promise<Among | null> {
    const column = columnOf(split);
    const { by } = split;
    const key = `${column} ${keyOf(order)} below ${parents.join()}`;
    const isServed = await once(this.#served, key, () => isServedBy(source, column, order, parents));
    if (!isServed) return null;
    if (by.kind === "in") {
      const { encode } = source.shape.origin;
      return { column, values: by.values.map((value) => encode(column, value)), isExact: true };
    }
    const [{ key: related }] = by.on as [RelatedNode["on"][number]];
    const type = await once(this.#types, `${column} ${by.from} ${related}`, () =>
      typeOf(source, column, by.from, related),
    );
    return type === null ? null : { column, values: { query: relatedTexts("postgres", by), type }, isExact: true };
  }

  async #visibleOf(source: NestedSource, split: Split, { column, values }: Among): Promise<Visible | null> {
    const { query } = source;
    const shares = await once(this.#shares, column, () => {
      const { path, order } = planNeeds(query, [[column, "asc"]]);
      return valueShares(query, path, order?.[0]?.[0] ?? column);
    });
    if (shares === null) return null;
    if (!("query" in values)) return visibleOf(values.map(String), shares);
    if (this.#visible.size >= MAX_CALLERS) this.#visible.clear();
    return once(this.#visible, exactJson(split.by), async () => visibleOf(await textsOf(query, values.query), shares));
  }
}

const choices = new WeakMap<QueryShape, MergeChoice>();

/** Reads something once. A pending read may belong to a request whose transaction fails, so another one then reads it itself. */
async function once<V>(kept: Map<string, Promise<V>>, key: string, read: () => Promise<V>): Promise<V> {
  const known = kept.get(key);
  if (known !== undefined) return known.catch(read);
  const reading = read();
  kept.set(key, reading);
  reading.catch(() => kept.delete(key));
  return reading;
}

/**
 * Whether an index begins with the column and those of the parents and then has the order, and values of its type can be looked up by
 * their texts.
 */
async function isServedBy(
  { query, shape, uniqueKey }: NestedSource,
  column: string,
  order: Order,
  parents: readonly string[],
): Promise<boolean> {
  const names = [column, ...parents];
  for (const name of names) if (!(await shape.isColumn(query, name))) return false;
  const [tenant] = await shape.columns(query, [[column, "asc"]], uniqueKey);
  if (tenant === undefined || familyOf(tenant.type) === undefined) return false;
  const ordered = await shape.columns(query, [...parents.map((name) => [name, "asc"] as const), ...order], uniqueKey);
  if (ordered.some(({ type }) => type === "")) return false;
  const needs = tenantNeeds(query, names, await shape.placedOrder(query, order, uniqueKey));
  return needs !== null && hasTenantIndex(query, shape.dialect, needs, names.length);
}

/** Whether the rows can be read in the order. */
async function isWalkable({ query, shape, uniqueKey }: NestedSource, order: Order): Promise<boolean> {
  return hasIndexFor(query, shape.dialect, planNeeds(query, await shape.placedOrder(query, order, uniqueKey)));
}

/** Whether an index begins with the first of the columns with one value, among them the tenant, and has the order after these or all of them. */
async function hasTenantIndex(query: AnyQuery, dialect: SqlDialect, needs: PlanNeeds, count: number): Promise<boolean> {
  const isAtOnce = await hasIndexFor(query, dialect, { ...needs, equal: needs.equal.slice(0, count) });
  return isAtOnce || (needs.equal.length > count && (await hasIndexFor(query, dialect, needs)));
}

/** Returns what an index has to serve for the rows of one value of each column; `null` if one is not a column of the first table. */
export function tenantNeeds(query: AnyQuery, columns: readonly string[], order: Order): PlanNeeds | null {
  const needs = planNeeds(query, [...columns.map((column) => [column, "asc"] as const), ...order]);
  if (needs.order === null) return null;
  const equal = needs.order.slice(0, columns.length).map(([column]) => column);
  return { ...needs, equal: [...new Set([...equal, ...needs.equal])], order: needs.order.slice(columns.length) };
}

/** Returns the type of the key of a related table if an index on the column can serve it; otherwise `null`. */
async function typeOf(
  { query, shape, uniqueKey }: NestedSource,
  column: string,
  from: string,
  key: string,
): Promise<string | null> {
  const [parent] = await shape.columns(query, [[column, "asc"]], uniqueKey);
  const [table = "", schema] = from.split(".").toReversed();
  const type = (await tableColumns(query, shape.dialect, { schema, table })).get(key)?.type ?? "";
  return familyOf(type) === familyOf(parent?.type ?? "") ? type : null;
}

/** The types of tenants. Values of the types in a family are compared with one index, and their texts differ if they do. */
const FAMILIES = [["smallint", "integer", "bigint"], ["text", "character varying"], ["uuid"]];

function familyOf(type: string): readonly string[] | undefined {
  return FAMILIES.find((family) => family.includes(type));
}

function visibleOf(values: readonly string[], shares: ValueShares): Visible {
  return { count: values.length, share: values.reduce((sum, value) => sum + shares(value), 0) };
}

/** Returns the different values, and no more of them than a merge would look up. */
async function textsOf(query: AnyQuery, texts: OperationNode): Promise<readonly string[]> {
  const rows = sql`(${{ toOperationNode: () => texts }}) as ${sql.id("~texts")}(value, text)`;
  const node = sql`select distinct text from ${rows} limit ${sql.lit(MAX_VALUES + 1)}`.toOperationNode();
  const { fragments } = new Statement("postgres", node, ["text"]);
  const found = await runRaw(query, fragments, parametersOf("postgres", node), ["text"], true);
  return found.map(({ text }) => String(text));
}
