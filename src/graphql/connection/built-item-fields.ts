import {
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLOutputType,
  getNamedType,
  isEnumType,
  isScalarType,
} from "graphql";
import { gateIn } from "../declare/fields/gate-extensions.ts";
import { propertyOf, readsOf } from "../declare/fields/reads-of.ts";
import { isLossless } from "../declare/types/is-lossless.ts";
import { shownKind } from "../declare/types/shown-kind.ts";
import type { ColumnField, ItemFields } from "./column-gates.ts";

/** The fields of a type of a built schema. Another library does not say what its resolvers read. */
export function builtItemFields(type: GraphQLObjectType): ItemFields {
  const fields = Object.values(type.getFields()).map((field: GraphQLField<unknown, unknown>): ColumnField => {
    const property = propertyOf(field);
    return {
      name: field.name,
      columns: property === null ? (readsOf(field) ?? [field.name]) : [property],
      isUnchanged: property !== null && isLosslessType(field.type),
      shown: shownKind(getNamedType(field.type)),
      gate: gateIn(field),
    };
  });
  return { name: type.name, fields };
}

function isLosslessType(given: GraphQLOutputType): boolean {
  const type = getNamedType(given);
  return isEnumType(type) || (isScalarType(type) && isLossless(type));
}
