import { ConfigurationError } from "../core/configuration-error.ts";
import { type OptionRule, REFUSED } from "../core/resolve-options.ts";
import type { Direction, Order } from "./order.ts";
import { InvalidSortError } from "./pagination-error.ts";
import { type QueryParams, readText } from "./query-params.ts";
import type { ParameterDescription } from "./strategies/base-pagination-strategy.ts";

/** The columns that a client may sort by. */
export interface SortLimits {
  /** The name of the query parameter. */
  readonly parameter: string;
  readonly columns: readonly string[];
  /** The maximum number of columns in one request. */
  readonly most: number;
}

/**
 * Returns the order in a query, such as `-priority,created_at`, or `undefined` if it has none. Throws
 * `InvalidSortError`.
 */
export function readSort(params: QueryParams, limits: SortLimits): Order | undefined {
  const { parameter, most } = limits;
  const text = readText(params, parameter);
  if (text === undefined) return undefined;
  if (typeof text !== "string") throw new InvalidSortError(`${parameter} ${text.reason}`, { parameter });
  // One column more than allowed is enough to reject the query, so the rest is not read.
  return sortOrder(text === "" ? [] : text.split(",", most + 1), limits);
}

/**
 * Returns the order of the columns as a client names them, with a leading `-` for descending. Throws
 * `InvalidSortError`.
 */
export function sortOrder(names: readonly string[], { parameter, columns, most }: SortLimits): Order {
  const refuse = (reason: string): InvalidSortError => new InvalidSortError(`${parameter} ${reason}`, { parameter });
  if (names.length === 0)
    throw refuse(`is empty: it accepts ${columns.join(", ")}. Prefix a column with - for descending order`);
  if (names.length > most) throw refuse(`accepts at most ${most} ${most === 1 ? "column" : "columns"}`);
  const order = names.map((name): readonly [string, Direction] =>
    name.startsWith("-") ? [name.slice(1), "desc"] : [name, "asc"],
  );
  if (order.some(([column]) => !columns.includes(column)))
    throw refuse(`accepts only ${columns.join(", ")}. Prefix a column with - for descending order`);
  if (new Set(order.map(([column]) => column)).size < order.length) throw refuse("names a column more than once");
  return order;
}

/** Describes the query parameter for the OpenAPI document. */
export function sortParameter({ parameter, columns, most }: SortLimits): ParameterDescription {
  const items = { type: "string", enum: columns.flatMap((column) => [column, `-${column}`]) };
  return {
    name: parameter,
    description: "The columns to sort by. Prefix a column with - for descending order. Omit it for the default order.",
    schema: { type: "array", items, minItems: 1, maxItems: Math.min(most, columns.length) },
  };
}

interface SortOptions {
  readonly sortable: readonly string[] | undefined;
  readonly sortParam: string | undefined;
  readonly maxSortColumns: number | undefined;
  readonly cursorParam: string;
  readonly pageSizeParam: string;
  readonly omitFromLinks: readonly string[];
}

/** Returns the sort limits in a strategy's options, or `null` if clients may not sort. Throws `ConfigurationError`. */
export function sortLimits(owner: string, options: SortOptions): SortLimits | null {
  const { sortable, sortParam: parameter = "sort", maxSortColumns: most = 3 } = options;
  if (sortable === undefined) {
    const idle = (["sortParam", "maxSortColumns"] as const).find((option) => options[option] !== undefined);
    if (idle === undefined) return null;
    throw new ConfigurationError(`${owner}.${idle}`, "requires sortable: list the columns clients may sort by");
  }
  if (parameter === options.cursorParam || parameter === options.pageSizeParam)
    throw new ConfigurationError(`${owner}.sortParam`, "a name that no other parameter uses", parameter);
  if (options.omitFromLinks.includes(parameter))
    throw new ConfigurationError(
      `${owner}.omitFromLinks`,
      `must not contain "${parameter}": the cursors in the links depend on it`,
    );
  return { parameter, columns: sortable, most };
}

export const sortableRule: OptionRule<readonly string[]> = {
  expected: "a list of distinct columns, without commas or a leading -",
  read: (value) =>
    Array.isArray(value) && value.length > 0 && value.every(isName) && new Set(value).size === value.length
      ? Object.freeze([...(value as string[])])
      : REFUSED,
};

function isName(column: unknown): boolean {
  return typeof column === "string" && /^[^-,][^,]*$/.test(column);
}
