import { type OperationNode, OperationNodeTransformer, sql, ValueNode } from "kysely";
import { type OptionRule, REFUSED } from "../../core/resolve-options.ts";
import type { ConditionValue } from "../../pagination/conditions/condition.ts";
import type { KeyTuple } from "../../pagination/keys/key-tuple.ts";
import type { Order } from "../../pagination/keys/order.ts";
import type { KeyColumn } from "../queries/key-column.ts";
import { keyedItems, keyValues, misfitOf } from "../queries/keyed-items.ts";
import { keyOf, patternOf } from "../queries/query-shape.ts";
import { textColumn } from "../queries/seek-statement.ts";
import { KeySlot } from "../statements/statement.ts";
import { distinctTexts, hasText, type MergedBy, mergedLateral, mergedUnion } from "./merged-lateral.ts";
import { type ListPage, lateralValues, runUnion, termStatements, unnested, valueNames } from "./nested-list.ts";
import { MAX_PARAMETERS, MAX_TERMS, type NestedSource, parentValue } from "./nested-reading.ts";

type Row = Record<string, unknown>;

/** A column, and the values of the rows of a list. */
export interface Among {
  readonly column: string;
  readonly values: readonly ConditionValue[] | TextRows;
  /** Whether the rows of a value have exactly its text, as a rule requires. PostgreSQL only. */
  readonly isExact?: true;
}

/** A column with values that are known. */
export interface ListedAmong extends Among {
  readonly values: readonly ConditionValue[];
}

/** A query for values, in PostgreSQL. */
export interface TextRows {
  /** Returns the text of each value twice: by its collation and exactly. */
  readonly query: OperationNode;
  /** The type of the values. */
  readonly type: string;
}

/**
 * Returns the rows after a key whose column has one of the values, or `null` if there is a null in a column that the
 * catalogue says is never null. Each value has its own index range. Returns `"too many"` if they do not fit into one
 * statement: rows of two statements cannot be merged, because only the database knows its order. It returns the same if two of the
 * values have the same rows, because the collation or the type of the column takes them for equal.
 */
export async function itemsAmong(
  source: NestedSource,
  { column, values, isExact }: Among,
  order: Order,
  key: KeyTuple | null,
  limit: number,
): Promise<readonly Row[] | null | "too many"> {
  const { query, shape, parameters, uniqueKey, selection } = source;
  const { dialect } = shape;
  const columns = await shape.columns(query, order, uniqueKey);
  const parents = await shape.columns(query, [[column, "asc"]], uniqueKey);
  const list: ListPage = { query: selection?.of(query) ?? query, dialect, parents, read: { columns, limit } };
  const isNull = key === null ? null : key.map((value) => value === null);
  const position = key === null ? [] : keyValues(dialect, columns, key);
  const [parent] = parents;
  if (parent === undefined) return [];
  const name = `among ${column} ${isExact ?? ""} ${keyOf(order)} ${limit} ${selection?.name ?? ""}`;
  const itemsOf = (rows: readonly Row[]): readonly Row[] | null | "too many" =>
    hasRepeated(rows, columns.length) ? "too many" : keyedItems(rows, columns, dialect, selection);
  const exact = isExact === true ? { ...list, query: list.query.where(hasText(parent) as never) } : list;
  try {
    if ("query" in values) {
      const { node, given } = slotted(values.query, position.length);
      const typed = { ...exact, parents: [{ ...parent, type: values.type }] };
      const keys = position.map((_value, at) => sql`${new KeySlot(at)}`);
      const statement = shape.compiled(`${name} ${patternOf(isNull)} ${JSON.stringify(node)}`, () =>
        mergedLateral(typed, distinctTexts(typed, isNull, node, keys), isNull),
      );
      const rows = await statement.run(query, parameters, [...position, ...given], selection !== null);
      return itemsOf(rows);
    }
    const present = [...new Set(values)].filter((value) => value !== null);
    if (present.length === 0) return [];
    const places = present.map((value) => [parentValue(dialect, parent, { [column]: value }, column), ...position]);
    // With LATERAL, values are cast to the types of their columns, which are unknown if a column is computed.
    if (dialect === "postgres" && [parent, ...columns].every(({ type }) => type !== "")) {
      const statement = shape.compiled(`${name} ${patternOf(isNull)}`, () => {
        let slots = 0;
        const lists = unnested(valueNames(list, isNull), () => new KeySlot(slots++));
        return mergedLateral(exact, lists, isNull);
      });
      const rows = await statement.run(query, parameters, lateralValues([places]), selection !== null);
      return itemsOf(rows);
    }
    const terms = shape.compiled(`${name} ${patternOf(isNull)}`, () => termStatements(list, isNull));
    const width = terms.reduce((sum, { fragments }) => sum + fragments.length - 1, 0);
    if (places.length * terms.length > MAX_TERMS || places.length * width > MAX_PARAMETERS[dialect]) return "too many";
    const around = shape.compiled(`${name} union`, () => mergedUnion(list));
    const filled = places.flatMap((place, index) =>
      terms.map((statement) => ({ statement, values: statement.values(parameters, [index, ...place]) })),
    );
    return itemsOf(await runUnion(list, around, filled));
  } catch (error) {
    throw (key === null ? null : misfitOf(error)) ?? error;
  }
}

/** Whether two rows have the same key. They follow one another, because the rows have the order of their keys. */
function hasRepeated(rows: readonly Row[], width: number): boolean {
  const texts = Array.from({ length: width }, (_, index) => textColumn(index));
  return rows.some((row, at) => at > 0 && texts.every((text) => row[text] === rows[at - 1]?.[text]));
}

/** Returns the values of a column for lists that are merged by them in PostgreSQL. */
export function mergedBy({ column, values }: Among, parent: KeyColumn): MergedBy {
  if ("query" in values) {
    const { node, given } = slotted(values.query, 0);
    return { column: { ...parent, type: values.type }, texts: node, given };
  }
  const texts = values.map((value) => parentValue("postgres", parent, { [column]: value }, column));
  const rows = sql`select value, value from unnest(${new KeySlot(0)}::text[]) as ${sql.id("~values")}(value)`;
  return { column: parent, texts: rows.toOperationNode(), given: [texts] };
}

/** Returns a query with slots in the places of its values, so that it is compiled once. */
function slotted(node: OperationNode, first: number): { readonly node: OperationNode; readonly given: unknown[] } {
  const slots = new Slots(first);
  return { node: slots.transformNode(node), given: slots.given };
}

class Slots extends OperationNodeTransformer {
  readonly given: unknown[] = [];
  readonly #first: number;
  constructor(first: number) {
    super();
    this.#first = first;
  }
  protected override transformValue(node: ValueNode): ValueNode {
    if (node.immediate === true) return node;
    return ValueNode.create(new KeySlot(this.#first + this.given.push(node.value) - 1));
  }
}

export const amongRule: OptionRule<ListedAmong> = {
  expected: "one column with a list of values, such as { source_id: [1, 2, 3] }",
  read: (value) => {
    const [entry, ...others] = typeof value === "object" && value !== null ? Object.entries(value) : [];
    if (entry === undefined || others.length > 0 || !Array.isArray(entry[1])) return REFUSED;
    return { column: entry[0], values: Object.freeze([...(entry[1] as ConditionValue[])]) };
  },
};
