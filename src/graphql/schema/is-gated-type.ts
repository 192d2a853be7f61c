import { type GraphQLNamedType, type GraphQLSchema, isAbstractType, isObjectType } from "graphql";
import { gateIn } from "../declare/fields/gate-extensions.ts";

/** Whether objects of this type may be refused by the gate of their type. */
export function isGatedType(schema: GraphQLSchema, type: GraphQLNamedType): boolean {
  if (isObjectType(type)) return gateIn(type) !== null;
  return isAbstractType(type) && schema.getPossibleTypes(type).some((member) => gateIn(member) !== null);
}
