import { type OptionRule, REFUSED } from "../../core/resolve-options.ts";
import type { ConditionValue } from "../../pagination/conditions/condition.ts";
import type { KeyTuple } from "../../pagination/keys/key-tuple.ts";
import type { Order } from "../../pagination/keys/order.ts";
import { keyedItems, keyValues, misfitOf } from "../queries/keyed-items.ts";
import { keyOf, patternOf } from "../queries/query-shape.ts";
import { mergedLateral, mergedUnion } from "./merged-lateral.ts";
import { type ListPage, lateralValues, runUnion, termStatements } from "./nested-list.ts";
import { MAX_PARAMETERS, MAX_TERMS, type NestedSource, parentValue } from "./nested-reading.ts";

type Row = Record<string, unknown>;

/** A column, and the values of the rows of a list. */
export interface Among {
  readonly column: string;
  readonly values: readonly ConditionValue[];
}

/**
 * Returns the rows after a key whose column has one of the values, or `null` if there is a null in a column that the
 * catalogue says is never null. Each value has its own index range. Returns `"too many"` if they do not fit into one
 * statement: rows of two statements cannot be merged, because only the database knows its order.
 */
export async function itemsAmong(
  source: NestedSource,
  { column, values }: Among,
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
  const present = [...new Set(values)].filter((value) => value !== null);
  if (parent === undefined || present.length === 0) return [];
  const places = present.map((value) => [parentValue(dialect, parent, { [column]: value }, column), ...position]);
  const name = `among ${column} ${keyOf(order)} ${limit} ${selection?.name ?? ""}`;
  try {
    // With LATERAL, values are cast to the types of their columns, which are unknown if a column is computed.
    if (dialect === "postgres" && [parent, ...columns].every(({ type }) => type !== "")) {
      const statement = shape.compiled(`${name} ${patternOf(isNull)}`, () => mergedLateral(list, isNull));
      const rows = await statement.run(query, parameters, lateralValues([places]), selection !== null);
      return keyedItems(rows, columns, dialect, selection);
    }
    const terms = shape.compiled(`${name} ${patternOf(isNull)}`, () => termStatements(list, isNull));
    const width = terms.reduce((sum, { fragments }) => sum + fragments.length - 1, 0);
    if (places.length * terms.length > MAX_TERMS || places.length * width > MAX_PARAMETERS[dialect]) return "too many";
    const around = shape.compiled(`${name} union`, () => mergedUnion(list));
    const filled = places.flatMap((place, index) =>
      terms.map((statement) => ({ statement, values: statement.values(parameters, [index, ...place]) })),
    );
    return keyedItems(await runUnion(list, around, filled), columns, dialect, selection);
  } catch (error) {
    throw (key === null ? null : misfitOf(error)) ?? error;
  }
}

export const amongRule: OptionRule<Among> = {
  expected: "one column with a list of values, such as { source_id: [1, 2, 3] }",
  read: (value) => {
    const [entry, ...others] = typeof value === "object" && value !== null ? Object.entries(value) : [];
    if (entry === undefined || others.length > 0 || !Array.isArray(entry[1])) return REFUSED;
    return { column: entry[0], values: Object.freeze([...(entry[1] as ConditionValue[])]) };
  },
};
