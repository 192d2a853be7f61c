import { ConfigurationError } from "../../core/configuration-error.ts";
import type { Direction } from "../../pagination/order.ts";
import type { SortLimits } from "../../pagination/read-sort.ts";
import { type EnumType, enumOf } from "../types/enum-type.ts";
import type { InputOwner } from "./input-owner.ts";

/** The enum of the argument `sort`: `BookSort`. */
export function sortEnum(owner: InputOwner, values: Iterable<string>): EnumType<string> {
  const names = [...values];
  const description = `The orders of a list of ${owner.node.name}.`;
  return owner.own("Sort", names, (name) => enumOf(name, names, { description }));
}

/** The column and the direction of each value of a sort enum: `CREATED_AT_DESC`. Throws `ConfigurationError`. */
export function sortValues({ columns }: SortLimits): ReadonlyMap<string, readonly [column: string, Direction]> {
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
