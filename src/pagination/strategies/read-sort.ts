import { ConfigurationError } from "../../core/configuration-error.ts";
import { type OptionRule, REFUSED } from "../../core/resolve-options.ts";
import type { Direction, Order } from "../keys/order.ts";
import { InvalidSortError } from "../query/pagination-error.ts";
import type { ParameterDescription } from "../query/parameter-description.ts";
import { type QueryParams, readText } from "../query/query-params.ts";

/** The names that a client may sort by. */
export interface SortLimits {
  /** The name of the query parameter. */
  readonly parameter: string;
  /** The column of each name. */
  readonly columns: ReadonlyMap<string, string>;
  /** The names whose columns are declared `public`. */
  readonly publicNames: ReadonlySet<string>;
  /** The maximum number of names in one request. */
  readonly most: number;
}

/**
 * Returns the order in a query, such as `-priority,createdAt`, or `undefined` if it has none. Throws
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
 * Returns the order of the columns that a client names, with a leading `-` for descending. Throws `InvalidSortError`.
 */
function sortOrder(names: readonly string[], limits: SortLimits): Order {
  const { parameter, columns } = limits;
  const known = `${[...columns.keys()].join(", ")}. Prefix a name with - for descending order`;
  const refuse = (reason: string): InvalidSortError => new InvalidSortError(`${parameter} ${reason}`, { parameter });
  if (names.length === 0) throw refuse(`is empty: it accepts ${known}`);
  const order = names.map((name): readonly [string | undefined, Direction] =>
    name.startsWith("-") ? [columns.get(name.slice(1)), "desc"] : [columns.get(name), "asc"],
  );
  if (names.length <= limits.most && order.some(([column]) => column === undefined))
    throw refuse(`accepts only ${known}`);
  return checkedOrder(order as Order, limits);
}

/** Returns the order if it is short enough and has no column twice. Throws `InvalidSortError`. */
export function checkedOrder(order: Order, { parameter, most }: SortLimits): Order {
  const refuse = (reason: string): InvalidSortError => new InvalidSortError(`${parameter} ${reason}`, { parameter });
  if (order.length === 0) throw refuse("is empty");
  if (order.length > most) throw refuse(`accepts at most ${most} ${most === 1 ? "name" : "names"}`);
  if (new Set(order.map(([column]) => column)).size < order.length) throw refuse("repeats a name");
  return order;
}

/** Describes the query parameter for the OpenAPI document. */
export function sortParameter({ parameter, columns, most }: SortLimits): ParameterDescription {
  const items = { type: "string", enum: [...columns.keys()].flatMap((name) => [name, `-${name}`]) };
  return {
    name: parameter,
    description: "The names to sort by. Prefix a name with - for descending order. Omit it for the default order.",
    schema: { type: "array", items, minItems: 1, maxItems: Math.min(most, columns.size) },
  };
}

/** A column that clients may sort by although no field returns it: every caller of the list may know its values. */
export interface PublicColumn<C extends string = string> {
  readonly column: C;
  readonly public: true;
}
/** The columns that clients may sort by: a list of them, or an object from the names that clients use. */
export type Sortable<C extends string = string> =
  | readonly (C | PublicColumn<C>)[]
  | Readonly<Record<string, C | PublicColumn<C>>>;

interface SortOptions {
  readonly sortable: Pick<SortLimits, "columns" | "publicNames"> | undefined;
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
  return { parameter, ...sortable, most };
}

export const sortableRule: OptionRule<Pick<SortLimits, "columns" | "publicNames">> = {
  expected:
    'a list of distinct columns, or an object from names to distinct columns, without commas or a leading -. A column is its name, or { column: "name", public: true }',
  read: (value) => {
    const isList = Array.isArray(value);
    const entries = entriesOf(value).map(([key, written]) => {
      const { column, isPublic } = readColumn(written);
      return { name: isList ? column : key, column, isPublic };
    });
    const columns = entries.map(({ column }) => column);
    const isValid =
      entries.every(({ name, column }) => isName(name) && isName(column)) && new Set(columns).size === columns.length;
    if (entries.length === 0 || !isValid) return REFUSED;
    return {
      columns: new Map(entries.map(({ name, column }) => [name as string, column as string])),
      publicNames: new Set(entries.flatMap(({ name, isPublic }) => (isPublic ? [name as string] : []))),
    };
  },
};

function entriesOf(value: unknown): readonly (readonly [string, unknown])[] {
  return typeof value === "object" && value !== null ? Object.entries(value) : [];
}

function readColumn(written: unknown): { readonly column: unknown; readonly isPublic: boolean } {
  if (typeof written !== "object" || written === null) return { column: written, isPublic: false };
  const { column, public: isPublic, ...others } = written as Readonly<Record<string, unknown>>;
  // A misspelt option must not leave a column that is not public, nor make one public.
  return isPublic === true && Object.keys(others).length === 0
    ? { column, isPublic }
    : { column: undefined, isPublic: false };
}

function isName(name: unknown): boolean {
  return typeof name === "string" && /^[^-,][^,]*$/.test(name);
}
