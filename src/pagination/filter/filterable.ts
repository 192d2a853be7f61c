import { ConfigurationError } from "../../core/configuration-error.ts";
import { type OptionRule, REFUSED, unknownOption } from "../../core/resolve-options.ts";

/** The operators that each type of value can be filtered by. */
export interface FilterOperators {
  text: "equal" | "in" | "prefix" | "null";
  integer: "equal" | "in" | "range" | "null";
  number: "equal" | "in" | "range" | "null";
  boolean: "equal" | "null";
  date: "range" | "null";
  id: "equal" | "in" | "null";
}
export type FilterOperator = FilterOperators[keyof FilterOperators];
/** One comparison, as clients write it. An operator has one or several of them. */
export type FilterTest = "equal" | "in" | "gt" | "gte" | "lt" | "lte" | "startsWith" | "isNull";
/** The type of a filter's values. A list holds all words that are allowed. */
export type FilterType = keyof FilterOperators | readonly string[];

/** One filter: its column, the type of its values, and its operators. */
export type FilterOptions<C extends string = string> =
  | {
      readonly [T in keyof FilterOperators]: FilterColumn<C> & {
        readonly type: T;
        readonly by: readonly FilterOperators[T][];
      };
    }[keyof FilterOperators]
  | (FilterColumn<C> & { readonly type: readonly string[]; readonly by: readonly ("equal" | "in" | "null")[] });
interface FilterColumn<C> {
  /** The column that is compared. @default the name of the filter */
  readonly column?: C;
  /**
   * Says that every caller of the list may know the values of the column, although no field returns them.
   * @default a field or the `item` schema has to return the column
   */
  readonly public?: true;
}
/** The filters of a list, by the names that clients use. */
export type Filterable<C extends string = string> = Readonly<Record<string, FilterOptions<C>>>;
/** The columns that the filters `F` compare. */
export type FilterColumns<F> = {
  [K in Extract<keyof F, string>]: F[K] extends { readonly column: infer C extends string } ? C : K;
}[Extract<keyof F, string>];

/** A filter as it was declared, complete. */
export interface FilterField {
  readonly name: string;
  readonly column: string;
  readonly isPublic: boolean;
  readonly type: FilterType;
  /** In a fixed order, each one once. */
  readonly operators: readonly FilterOperator[];
}
export type FilterFields = ReadonlyMap<string, FilterField>;

const OPERATORS: Readonly<Record<keyof FilterOperators, readonly FilterOperator[]>> = {
  text: ["equal", "in", "prefix", "null"],
  integer: ["equal", "in", "range", "null"],
  number: ["equal", "in", "range", "null"],
  boolean: ["equal", "null"],
  date: ["range", "null"],
  id: ["equal", "in", "null"],
};
const OF_WORDS: readonly FilterOperator[] = ["equal", "in", "null"];
/** As in GraphQL, so that a filter has one name everywhere. */
const NAME = /^(?!__)[A-Za-z_][A-Za-z0-9_]*$/;
const MAX_NAME_LENGTH = 64;

export const filterableRule: OptionRule<Filterable> = {
  expected: 'an object from names to filters, such as { genre: { type: "text", by: ["equal"] } }',
  read: (value) =>
    typeof value === "object" && value !== null && !Array.isArray(value) && Object.keys(value).length > 0
      ? (value as Filterable)
      : REFUSED,
};

/** The other query parameters of a strategy, which filters must not replace. */
interface OtherParameters {
  readonly taken: readonly string[];
  readonly omitFromLinks: readonly string[];
}

/** Returns the filters in a strategy's options, or `null` if there are none. Throws `ConfigurationError`. */
export function filterFields(
  owner: string,
  filterable: Filterable | undefined,
  { taken, omitFromLinks }: OtherParameters,
): FilterFields | null {
  if (filterable === undefined) return null;
  const fields = Object.entries(filterable).map(([name, options]) => readField(`${owner}.filterable`, name, options));
  for (const { name } of fields)
    if (taken.includes(name))
      throw new ConfigurationError(`${owner}.filterable.${name}`, "a name that no other parameter uses", name);
  const omitted = omitFromLinks.find((parameter) => fields.some(({ name }) => name === parameter.split(".", 1)[0]));
  if (omitted !== undefined)
    throw new ConfigurationError(
      `${owner}.omitFromLinks`,
      `must not contain "${omitted}": the links would lead to a list with another filter`,
    );
  return new Map(fields.map((field) => [field.name, field]));
}

function readField(owner: string, name: string, options: unknown): FilterField {
  const option = `${owner}.${name}`;
  if (!NAME.test(name) || name.length > MAX_NAME_LENGTH)
    throw new ConfigurationError(
      option,
      `the name of a filter: letters, digits and _, at most ${MAX_NAME_LENGTH}`,
      name,
    );
  if (typeof options !== "object" || options === null)
    throw new ConfigurationError(option, 'an object such as { type: "text", by: ["equal"] }', options);
  const { column = name, public: isPublic, type, by, ...others } = options as Readonly<Record<string, unknown>>;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw unknownOption(option, unknown, ["column", "type", "by", "public"]);
  if (isPublic !== undefined && isPublic !== true)
    throw new ConfigurationError(`${option}.public`, "true, or left out", isPublic);
  if (typeof column !== "string" || !/^[^.\0]+$/.test(column))
    throw new ConfigurationError(`${option}.column`, "the name of a column, without its table", column);
  const allowed = operatorsOf(`${option}.type`, type);
  const isKnown = Array.isArray(by) && by.length > 0 && by.every((operator) => allowed.includes(operator as never));
  if (!isKnown) throw new ConfigurationError(`${option}.by`, `a list of ${allowed.join(", ")}`, by);
  const operators = allowed.filter((operator) => (by as readonly unknown[]).includes(operator));
  return { name, column, isPublic: isPublic === true, type: type as FilterType, operators };
}

function operatorsOf(option: string, type: unknown): readonly FilterOperator[] {
  if (typeof type === "string" && Object.hasOwn(OPERATORS, type)) return OPERATORS[type as keyof FilterOperators];
  const isWords =
    Array.isArray(type) &&
    type.length > 0 &&
    type.every((word) => typeof word === "string" && /^[^,\0]+$/.test(word)) &&
    new Set(type).size === type.length;
  if (isWords) return OF_WORDS;
  throw new ConfigurationError(
    option,
    `${Object.keys(OPERATORS).join(", ")}, or a list of distinct words without commas`,
    type,
  );
}
