import { ConfigurationError } from "../core/configuration-error.ts";
import type { AnyStrategy } from "./strategies/strategy-by-name.ts";

/** A column that clients may sort or filter by. */
export interface ClientColumn {
  readonly option: "sortable" | "filterable";
  /** The name that clients use. */
  readonly name: string;
  readonly column: string;
  /** Whether every caller of the list may know its values, although no field returns them. */
  readonly isPublic: boolean;
}

/** The columns that clients choose to sort and filter by. The `order` of a strategy is its author's choice. */
export function clientColumns({ sort, filters }: Pick<AnyStrategy, "sort" | "filters">): readonly ClientColumn[] {
  const sorted = [...(sort?.columns ?? [])].map(([name, column]) => ({
    option: "sortable" as const,
    name,
    column,
    isPublic: sort?.publicNames.has(name) === true,
  }));
  const filtered = [...(filters?.values() ?? [])].map(({ name, column, isPublic }) => ({
    option: "filterable" as const,
    name,
    column,
    isPublic,
  }));
  return [...sorted, ...filtered];
}

/**
 * Checks the list of a route, whose items have no gates: its schema returns the columns `shown`, or it has none. Throws
 * `ConfigurationError` for a column that clients could only read by sorting or filtering.
 */
export function checkShown(place: string, strategy: AnyStrategy, shown: ReadonlySet<string> | null): void {
  for (const entry of clientColumns(strategy)) {
    const { column, isPublic } = entry;
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
