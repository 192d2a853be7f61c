import {
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isCompositeType,
  isListType,
  isNonNullType,
  isObjectType,
} from "graphql";
import { builtItemFields } from "../../graphql/connection/built-item-fields.ts";
import { isOpen } from "../../graphql/connection/column-gates.ts";
import { itemsOfConnection } from "../../graphql/connection/has-connections.ts";
import { gateIn } from "../../graphql/declare/fields/gate-extensions.ts";
import { type AccessWarning, DECODES } from "./warnings-of.ts";

/** The known dangers in the fields of a schema. */
export function schemaWarnings(schema: GraphQLSchema): readonly AccessWarning[] {
  return Object.values(schema.getTypeMap())
    .filter(isObjectType)
    .filter(({ name }) => !name.startsWith("__"))
    .flatMap((type) => Object.values(type.getFields()).flatMap((field) => fieldWarnings(type, field)));
}

function fieldWarnings(type: GraphQLObjectType, field: GraphQLField<unknown, unknown>): readonly AccessWarning[] {
  const place = `${type.name}.${field.name}`;
  const warnings: AccessWarning[] = [];
  if (gateIn(field) !== null && isNonNullType(field.type))
    warnings.push({ place, sentence: "has a gate but is not nullable: a refusal removes the whole object around it" });
  const isPaged = isObjectType(getNamedType(field.type)) && field.extensions["isConnection"] === true;
  if (isListOfObjects(field.type) && field.extensions["listSize"] === undefined && !isPartOfPage(type))
    warnings.push({ place, sentence: "returns a list without a maximum: declare listSize, or make it a connection" });
  if (field.extensions["decodesCursors"] === true) warnings.push({ place, sentence: DECODES });
  return isPaged ? [...warnings, ...orderWarnings(place, field)] : warnings;
}

/** The `nodes` and `edges` of a connection are bounded by its page size. */
function isPartOfPage(type: GraphQLObjectType): boolean {
  return itemsOfConnection(type) !== null && type.getFields()["pageInfo"] !== undefined;
}

function isListOfObjects(type: GraphQLOutputType): boolean {
  return isListType(getNullableType(type)) && isCompositeType(getNamedType(type));
}

/** The order of a list reveals the values that it is sorted by, also to callers who may not read them. */
function orderWarnings(place: string, field: GraphQLField<unknown, unknown>): readonly AccessWarning[] {
  const items = itemsOfConnection(getNamedType(field.type));
  const columns = (field.extensions["sortColumns"] ?? []) as readonly string[];
  const fields = items === null ? [] : builtItemFields(items).fields;
  const hidden = columns.filter((column) => !isOpen(fields, column));
  return fields.flatMap(({ name, columns: read, gate }) => {
    const column = gate === null ? undefined : hidden.find((one) => read.includes(one));
    if (column === undefined) return [];
    const sentence = `is sorted by ${column}, and ${items?.name}.${name} has a gate: the order tells the hidden values`;
    return [{ place, sentence }];
  });
}
