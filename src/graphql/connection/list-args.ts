import { ConfigurationError } from "../../core/configuration-error.ts";
import { Filters } from "../../pagination/filter/filters.ts";
import type { Direction, Order } from "../../pagination/keys/order.ts";
import type { CursorPagination } from "../../pagination/strategies/cursor-pagination.ts";
import { checkedOrder, type SortLimits } from "../../pagination/strategies/read-sort.ts";
import { arg } from "../declare/references/arg.ts";
import type { Arg } from "../declare/references/graph-type.ts";
import { type EnumType, enumOf } from "../declare/types/enum-type.ts";
import { list, nullable } from "../declare/types/list-type.ts";
import { blaming, type ConnectionArgs } from "./connection-args.ts";
import { filterInput } from "./filter-input.ts";
import type { InputOwner } from "./input-owner.ts";

/** The arguments `sort` and `filter`, as far as the strategy lets clients sort and filter. */
export class ListArgs {
  readonly args: Readonly<Record<string, Arg<any>>>;
  readonly #strategy: CursorPagination<any, any>;
  readonly #orders: ReadonlyMap<string, Order[number]>;

  /** @param owner names the types of the arguments; called when the schema is built */
  constructor(strategy: CursorPagination<any, any>, owner: () => InputOwner) {
    const { sort, filters } = strategy;
    const orders = sort === null ? new Map<string, Order[number]>() : sortValues(sort);
    this.#strategy = strategy;
    this.#orders = orders;
    this.args = {
      ...(sort === null
        ? {}
        : {
            sort: arg(nullable(list(() => sortEnum(owner(), orders.keys()))), {
              description: "The order of the list, the most important value first. Omit it for the default order.",
            }),
          }),
      ...(filters === null
        ? {}
        : {
            filter: arg(
              nullable(() => filterInput(owner(), filters)),
              { description: "Only items that pass." },
            ),
          }),
    };
  }

  /** The order in the arguments, or `undefined` if there is none. Throws `InvalidSortError`. */
  order({ sort: names }: ConnectionArgs): Order | undefined {
    const { sort } = this.#strategy;
    // If the strategy is not sortable, the connection may declare its own argument named sort.
    if (sort === null || names === null || names === undefined) return undefined;
    const order = names.map((name) => this.#orderOf(name));
    return blaming("sort", () => checkedOrder(order, { ...sort, parameter: "sort" }));
  }

  /** A schema that was built elsewhere declares its own enum, which may have other values. */
  #orderOf(name: string): Order[number] {
    const order = this.#orders.get(name);
    if (order !== undefined) return order;
    const known = [...this.#orders.keys()].join(", ");
    throw new ConfigurationError("CursorPagination.sortable", `does not have the value ${name} of sort: use ${known}`);
  }

  /** The filters in the arguments, or `null` if the strategy has none. Throws `InvalidFilterError`. */
  filters({ filter }: ConnectionArgs): Filters | null {
    const { filters: fields } = this.#strategy;
    return fields === null ? null : blaming("filter", () => Filters.fromArgument(fields, filter));
  }
}

/** The columns that the client chose to sort and filter by. */
export function chosenColumns(order: Order | undefined, filters: Filters | null): readonly string[] {
  return [...(order ?? []).map(([column]) => column), ...(filters?.fields ?? []).map(({ column }) => column)];
}

/** The enum of the argument `sort`: `BookSort`. */
function sortEnum(owner: InputOwner, values: Iterable<string>): EnumType<string> {
  const names = [...values];
  const description = `The orders of a list of ${owner.node.name}.`;
  return owner.own("Sort", names, (name) => enumOf(name, names, { description }));
}

/** The column and the direction of each value of a sort enum: `CREATED_AT_DESC`. Throws `ConfigurationError`. */
function sortValues({ columns }: SortLimits): ReadonlyMap<string, readonly [column: string, Direction]> {
  const values = new Map<string, readonly [string, Direction]>();
  for (const [name, column] of columns)
    for (const direction of ["asc", "desc"] as const) {
      const value = `${constantCase(name)}_${direction.toUpperCase()}`;
      if (!/^[A-Z_][A-Z0-9_]*$/.test(value) || value.startsWith("__") || values.has(value))
        throw new ConfigurationError(
          "CursorPagination.sortable",
          `"${name}" cannot be the value ${value} of an enum in GraphQL: use an object from distinct names to columns, such as { createdAt: "created_at" }`,
        );
      values.set(value, [column, direction]);
    }
  return values;
}

/** `createdAt` and `created_at` become `CREATED_AT`. */
function constantCase(name: string): string {
  return name.replace(/(?<=[a-z0-9])(?=[A-Z])/g, "_").toUpperCase();
}
