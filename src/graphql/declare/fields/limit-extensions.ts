import { type GraphQLSchema, isObjectType } from "graphql";
import type { RateLimit } from "../../../kernel/limits/rate-limit.ts";

/** The name is long, because applications have extensions too. */
const LIMITS = "portico.limits";

/** The extension of a field that holds its limits, for the checks at startup. */
export function limitExtensions(limits: readonly RateLimit[]): Readonly<Record<string, readonly RateLimit[]>> {
  return limits.length === 0 ? {} : { [LIMITS]: limits };
}

/** The limits of all fields of a built schema. */
export function limitsIn(schema: GraphQLSchema): readonly RateLimit[] {
  return Object.values(schema.getTypeMap())
    .filter(isObjectType)
    .flatMap((type) => Object.values(type.getFields()))
    .flatMap(({ extensions }) => (extensions[LIMITS] as readonly RateLimit[] | undefined) ?? []);
}
