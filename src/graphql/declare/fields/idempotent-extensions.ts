import { type GraphQLField, type GraphQLInputType, type GraphQLSchema, getNamedType, isInputObjectType } from "graphql";
import { ConfigurationError } from "../../../core/configuration-error.ts";
import type { Idempotent } from "../../../kernel/idempotency/idempotent.ts";
import type { ResponseStore } from "../../../kernel/idempotency/response-store.ts";

/** The name is long, because applications have extensions too. */
const IDEMPOTENT = "portico.idempotent";

/** The extension of a mutation that accepts idempotency keys. */
export function idempotentExtensions(idempotent: Idempotent | null): Readonly<Record<string, Idempotent>> {
  return idempotent === null ? {} : { [IDEMPOTENT]: idempotent };
}

/** How a mutation answers requests with a key once; `undefined` if it accepts none. */
export function idempotentOf(field: GraphQLField<any, any> | undefined): Idempotent | undefined {
  return field?.extensions[IDEMPOTENT] as Idempotent | undefined;
}

/** The mutations of a schema that accept idempotency keys, in their order. */
export function idempotentMutations(schema: GraphQLSchema): readonly string[] {
  const fields = Object.values(schema.getMutationType()?.getFields() ?? {});
  return fields.filter((field) => idempotentOf(field) !== undefined).map(({ name }) => name);
}

/** The tables of stored responses that a schema uses. Throws for a mutation with an upload, whose requests cannot be compared. */
export function responseStoresIn(schema: GraphQLSchema): readonly ResponseStore[] {
  const fields = Object.values(schema.getMutationType()?.getFields() ?? {});
  const stores = fields.flatMap((field) => {
    const idempotent = idempotentOf(field);
    if (idempotent === undefined) return [];
    if (field.args.some(({ type }) => hasUpload(type, new Set())))
      throw new ConfigurationError(
        `mutation ${field.name}.idempotent`,
        "cannot be combined with an upload, because the files of two requests are not compared",
      );
    return [idempotent.store];
  });
  return [...new Set(stores)];
}

function hasUpload(type: GraphQLInputType, seen: Set<unknown>): boolean {
  const named = getNamedType(type);
  if (seen.has(named)) return false;
  seen.add(named);
  if (!isInputObjectType(named)) return named.name === "Upload";
  return Object.values(named.getFields()).some((field) => hasUpload(field.type, seen));
}
