import { ConfigurationError } from "../core/configuration-error.ts";
import { REFUSED, type Rule } from "../core/resolve-options.ts";
import type { Direction, Order } from "./order.ts";
import { InvalidSortError } from "./pagination-error.ts";
import { type QueryParams, readText } from "./query-params.ts";
import type { ParameterDescription } from "./strategies/base-pagination-strategy.ts";

/** What a client may sort by. */
export interface SortLimits {
  /** The query parameter. */
  readonly parameter: string;
  readonly columns: readonly string[];
  /** How many of them at once. */
  readonly most: number;
}

/** The order that a query asks for, as `-priority,created_at`; `undefined` when it asks for none. Throws `InvalidSortError`. */
export function readSort(params: QueryParams, limits: SortLimits): Order | undefined {
  const { parameter, most } = limits;
  const text = readText(params, parameter);
  if (text === undefined) return undefined;
  if (typeof text !== "string") throw new InvalidSortError(`${parameter} ${text.reason}`, { parameter });
  // One more than allowed tells that there are too many: what follows it is not looked at.
  return sortOrder(text === "" ? [] : text.split(",", most + 1), limits);
}

/** The order of columns as a client names them, `-` in front for descending. Throws `InvalidSortError`. */
export function sortOrder(names: readonly string[], { parameter, columns, most }: SortLimits): Order {
  const refuse = (reason: string): InvalidSortError => new InvalidSortError(`${parameter} ${reason}`, { parameter });
  if (names.length === 0) throw refuse(`is empty: it takes ${columns.join(", ")}, with - in front for descending`);
  if (names.length > most) throw refuse(`takes at most ${most} ${most === 1 ? "column" : "columns"}`);
  const order = names.map((name): readonly [string, Direction] =>
    name.startsWith("-") ? [name.slice(1), "desc"] : [name, "asc"],
  );
  if (order.some(([column]) => !columns.includes(column)))
    throw refuse(`takes ${columns.join(", ")}, with - in front for descending, and nothing else`);
  if (new Set(order.map(([column]) => column)).size < order.length) throw refuse("names a column more than once");
  return order;
}

/** The query parameter, for the OpenAPI document. */
export function sortParameter({ parameter, columns, most }: SortLimits): ParameterDescription {
  const items = { type: "string", enum: columns.flatMap((column) => [column, `-${column}`]) };
  return {
    name: parameter,
    description: "What to sort by, with - in front for descending. Left out, the list is in its own order.",
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

/** What the options of a strategy leave to the client; `null` for nothing. Throws `ConfigurationError`. */
export function sortLimits(owner: string, options: SortOptions): SortLimits | null {
  const { sortable, sortParam: parameter = "sort", maxSortColumns: most = 3 } = options;
  if (sortable === undefined) {
    const idle = (["sortParam", "maxSortColumns"] as const).find((option) => options[option] !== undefined);
    if (idle === undefined) return null;
    throw new ConfigurationError(`${owner}.${idle}`, "is nothing without sortable: say which columns");
  }
  if (parameter === options.cursorParam || parameter === options.pageSizeParam)
    throw new ConfigurationError(`${owner}.sortParam`, "a name that no other parameter has", parameter);
  if (options.omitFromLinks.includes(parameter))
    throw new ConfigurationError(
      `${owner}.omitFromLinks`,
      `cannot have ${parameter}: the cursors in the links are bound to it`,
    );
  return { parameter, columns: sortable, most };
}

export const sortableRule: Rule<readonly string[]> = {
  expected: "a list of columns, each once, without commas and with no - in front",
  read: (value) =>
    Array.isArray(value) && value.length > 0 && value.every(isName) && new Set(value).size === value.length
      ? Object.freeze([...(value as string[])])
      : REFUSED,
};

function isName(column: unknown): boolean {
  return typeof column === "string" && /^[^-,][^,]*$/.test(column);
}
