import { ConfigurationError } from "../../core/configuration-error.ts";
import type { FilterType } from "../filter/filterable.ts";
import type { ShownKind } from "./shown-kind.ts";
import type { AnyStrategy } from "./strategy-by-name.ts";

/** A column that clients may sort or filter by. */
export interface ClientColumn {
  readonly option: "sortable" | "filterable";
  /** The name that clients use. */
  readonly name: string;
  readonly column: string;
  /** Whether every caller of the list may know its values, although no field returns them. */
  readonly isPublic: boolean;
  /** The type of the values that it is filtered by. */
  readonly type?: FilterType;
}

/** The columns that clients choose to sort and filter by. The `order` of a strategy is its author's choice. */
export function clientColumns({ sort, filters }: Pick<AnyStrategy, "sort" | "filters">): readonly ClientColumn[] {
  const sorted = [...(sort?.columns ?? [])].map(([name, column]) => ({
    option: "sortable" as const,
    name,
    column,
    isPublic: sort?.publicNames.has(name) === true,
  }));
  const filtered = [...(filters?.values() ?? [])].map(({ name, column, isPublic, type }) => ({
    option: "filterable" as const,
    name,
    column,
    isPublic,
    type,
  }));
  return [...sorted, ...filtered];
}

/**
 * Checks the list of a route, whose items have no gates: its schema returns the columns `shown`, or it has none. Throws
 * `ConfigurationError` for a column that clients could only read by sorting or filtering.
 */
export function checkShown(
  place: string,
  strategy: AnyStrategy,
  shown: ReadonlyMap<string, ShownKind | null> | null,
): void {
  for (const entry of clientColumns(strategy)) {
    const { column, isPublic } = entry;
    checkFilterType(place, entry, "its item schema", shown?.get(column) ?? null);
    if (isPublic || shown?.has(column) === true) continue;
    throw shown === null
      ? hiddenColumn(
          place,
          entry,
          `no item schema says that its items contain ${column}`,
          `declare paginated with an item schema that returns ${column}`,
        )
      : hiddenColumn(
          place,
          entry,
          `its item schema does not return ${column} unchanged`,
          `add ${column} to the item schema, without a transformation`,
        );
  }
}

/**
 * Throws `ConfigurationError` for a filter that compares text, or looks for a prefix, in a column of numbers or booleans. Some
 * databases would reject every request that uses it.
 */
export function checkFilterType(
  place: string,
  { name, column, type }: ClientColumn,
  owner: string,
  shown: ShownKind | null,
): void {
  if (shown === null || type === undefined || !(type === "text" || typeof type === "object")) return;
  throw new ConfigurationError(
    place,
    `is filterable by ${name} as text, but ${owner} returns ${shown} for ${column}: declare the filter with the type ${
      shown === "numbers" ? '"integer" or "number"' : '"boolean"'
    }`,
  );
}

/**
 * The error for a column that clients could only read by sorting or filtering.
 *
 * @param cause says why they cannot read it otherwise
 * @param remedy says how to return it to them
 */
export function hiddenColumn(
  place: string,
  { option, name, column }: ClientColumn,
  cause: string,
  remedy: string,
): ConfigurationError {
  const word =
    option === "sortable"
      ? `declare ${name} as { column: ${JSON.stringify(column)}, public: true }`
      : `add public: true to the filter ${name}`;
  return new ConfigurationError(
    place,
    `is ${option} by ${name}, but ${cause}, so clients could determine its values one request at a time: remove ${name} from ${option}, ${remedy}, or ${word} if every caller of the list may know its values`,
  );
}
