import * as fc from "fast-check";
import type { Direction, NullPlacement, Order } from "../../src/pagination/index.ts";
import { columnOf, type Kind, kinds } from "./list-rows.ts";

/** A list that the generator declares. */
export interface ListDeclaration {
  /** The number of the table. */
  readonly table: number;
  /** Whether the list has one list per parent, in a connection. Otherwise it is a route. */
  readonly isNested: boolean;
  /** The order, without the unique key. */
  readonly order: Order;
  /** Whether the client names the order, or the strategy. */
  readonly isSortedByClient: boolean;
  /** The placement of nulls that the strategy declares for columns that have none. */
  readonly nulls: "first" | "last" | undefined;
  readonly filter: ListFilter | null;
  readonly size: number;
}

/** A filter that the client uses. `in` has the value and the next one, `isNull` is true for values above zero. */
export interface ListFilter {
  readonly column: string;
  readonly test: "equal" | "in" | "lt" | "gte" | "isNull";
  readonly value: number;
}

const direction = fc.constantFrom<Direction>("asc", "desc");
const column = fc.tuple(fc.constantFrom<Kind>(...kinds), fc.boolean()).map((chosen) => columnOf(...chosen));
const placement = fc.constantFrom<NullPlacement>("nulls first", "nulls last");
const orderOf = (entry: fc.Arbitrary<Order[number]>, maxLength: number): fc.Arbitrary<Order> =>
  fc.uniqueArray(entry, { minLength: 1, maxLength, selector: ([name]) => name });
const filter: fc.Arbitrary<ListFilter> = fc.record({
  column: fc.constantFrom(columnOf("int", false), columnOf("int", true)),
  test: fc.constantFrom("equal", "in", "lt", "gte", "isNull"),
  value: fc.integer({ min: -1, max: 2 }),
});

const declaration: fc.Arbitrary<ListDeclaration> = fc.boolean().chain((isSortedByClient) =>
  fc.record({
    table: fc.nat({ max: 4 }),
    isNested: fc.boolean(),
    // A client has no way to place nulls, and may name three columns.
    order: isSortedByClient
      ? orderOf(fc.tuple(column, direction), 3)
      : orderOf(fc.oneof(fc.tuple(column, direction), fc.tuple(column, direction, placement)), 4),
    isSortedByClient: fc.constant(isSortedByClient),
    nulls: fc.constantFrom(undefined, "first", "last"),
    filter: fc.option(filter),
    size: fc.integer({ min: 1, max: 12 }),
  }),
);

/** Generates declarations, which are the same for the same seed. */
export function generateLists(count: number, seed: number): readonly ListDeclaration[] {
  return fc.sample(declaration, { seed, numRuns: count });
}
