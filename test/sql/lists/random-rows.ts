import * as fc from "fast-check";
import { type SelectQueryBuilder, sql } from "kysely";
import type { Direction, NullPlacement, Order } from "portico/pagination";
import type { Engine } from "../../../lab/servers/engines.ts";

/** A row with a column of each kind. */
export interface Row {
  readonly i: number | null;
  readonly b: string | null;
  readonly t: string | null;
  readonly s: string | null;
  readonly r: number | null;
  readonly d: string | null;
}

const maybe = <T>(value: fc.Arbitrary<T>, isNullable: boolean): fc.Arbitrary<T | null> =>
  isNullable ? fc.oneof({ weight: 1, arbitrary: fc.constant(null) }, { weight: 3, arbitrary: value }) : value;
/** Random rows. Few values, so that there are ties; neighbours that a rounded key would not tell apart. */
export const rowOf = (isNullable: boolean): fc.Arbitrary<Row> =>
  fc.record({
    i: maybe(fc.integer({ min: -1, max: 2 }), isNullable),
    b: maybe(fc.constantFrom("9007199254740992", "9007199254740993", "9223372036854775807", "-1"), isNullable),
    t: maybe(
      fc.constantFrom("2024-03-01 10:00:00.123456", "2024-03-01 10:00:00.123457", "2024-03-01 10:00:00.123000"),
      isNullable,
    ),
    s: maybe(fc.constantFrom("", "a", "a'b", "B", "\u00e4", "\u{1f600}"), isNullable),
    r: maybe(
      fc.oneof(fc.constantFrom(0.1, 1 / 3, 1e21, 3.1458982871292564e-279), fc.double({ min: -1, max: 1, noNaN: true })),
      isNullable,
    ),
    d: maybe(fc.constantFrom("0.1000000001", "0.1000000002", "12345678901234567890.1"), isNullable),
  });
const column = fc.constantFrom("i", "b", "t", "s", "r", "d");
const direction = fc.constantFrom<Direction>("asc", "desc");
/** A random order by one to four of the columns, some of which place their nulls. */
export const order: fc.Arbitrary<Order> = fc.uniqueArray(
  fc.oneof(
    fc.tuple(column, direction),
    fc.tuple(column, direction, fc.constantFrom<NullPlacement>("nulls first", "nulls last")),
  ),
  { minLength: 1, maxLength: 4, selector: ([name]) => name },
);

/** Returns the query in this order, made total by the id, in plain SQL that all engines have. */
export function sortedBy<Q extends SelectQueryBuilder<any, any, any>>(
  query: Q,
  columns: Order,
  last: Direction = columns.at(-1)?.[1] ?? "asc",
): Q {
  return [...columns, ["id", last] as const].reduce((built: Q, [name, way, nulls]) => {
    const placed =
      nulls === undefined
        ? built
        : built.orderBy(
            sql`case when ${sql.ref(name)} is null then 1 else 0 end`,
            nulls === "nulls last" ? "asc" : "desc",
          );
    return placed.orderBy(name, way) as Q;
  }, query);
}

/** Returns a row as the engine's driver takes it. */
export function stored(name: Engine["name"], row: Row & { readonly id: number }): Record<string, unknown> {
  const { b, t, d } = row;
  return {
    ...row,
    b: b === null || name !== "SQLite" ? b : BigInt(b),
    t: t === null || name !== "PostgreSQL" ? t : `${t}+00`,
    d: d === null || name !== "SQLite" ? d : Number(d),
  };
}
