import type { GraphQLLeafType } from "graphql";
import type { Complete } from "./complete-slot.ts";
import { inspect } from "./inspect.ts";
import { isGraphql17 } from "./is-graphql17.ts";

type Coerce = (value: unknown) => unknown;

/** Converts a value of a scalar or an enum to its form in the response. */
export function leafCompleter(type: GraphQLLeafType): Complete {
  const method = isGraphql17 ? "coerceOutputValue" : "serialize";
  const coercing = type as unknown as Record<typeof method, Coerce>;
  return (_run, _info, _path, value) => {
    if (value instanceof Error) throw value;
    if (value === null || value === undefined) return null;
    const coerced = coercing[method](value);
    if (coerced === null || coerced === undefined)
      throw new Error(
        `Expected \`${inspect(type)}.${method}(${inspect(value)})\` to return non-nullable value, returned: ${inspect(coerced)}`,
      );
    return coerced;
  };
}
