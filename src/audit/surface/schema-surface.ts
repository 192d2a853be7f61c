import { type GraphQLObjectType, type GraphQLSchema, getNamedType, isObjectType } from "graphql";
import { itemsOfConnection } from "../../graphql/connection/has-connections.ts";
import { gateIn, objectsIn } from "../../graphql/declare/fields/gate-extensions.ts";
import { allGates, type GateNode } from "../../kernel/access/gate-node.ts";
import { type AccessEntry, objectEntries } from "./access-entry.ts";

/** The places of a schema: root fields, lists, and the types and fields with a gate. `outer` is the gate of the endpoint. */
export function schemaSurface(schema: GraphQLSchema, endpoint: string, outer: GateNode | null): readonly AccessEntry[] {
  const roots = new Map([
    [schema.getQueryType(), "query"],
    [schema.getMutationType(), "mutation"],
    [schema.getSubscriptionType(), "subscription"],
  ] as const);
  const types = Object.values(schema.getTypeMap()).filter(isObjectType);
  return types
    .filter(({ name }) => !name.startsWith("__"))
    .flatMap((type) => {
      const kind = roots.get(type) ?? "field";
      const own = kind === "field" ? gateIn(type) : null;
      const typeEntry: AccessEntry = { kind: "type", place: type.name, gate: own, endpoint };
      return [...(own === null ? [] : [typeEntry]), ...fieldEntries(type, kind, endpoint, outer)];
    });
}

function fieldEntries(
  owner: GraphQLObjectType,
  kind: "query" | "mutation" | "subscription" | "field",
  endpoint: string,
  outer: GateNode | null,
): readonly AccessEntry[] {
  return Object.values(owner.getFields()).flatMap((field) => {
    const place = `${owner.name}.${field.name}`;
    const own = gateIn(field);
    const gate = allGates([outer, own].filter((one) => one !== null));
    const type = getNamedType(field.type);
    const items = field.extensions["isConnection"] === true ? itemsOfConnection(type) : null;
    const objects = isObjectType(type) ? gateIn(items ?? type) : null;
    const entry: AccessEntry = { kind, place, gate, objects, endpoint };
    const isListed = kind !== "field" || own !== null;
    return [
      ...(isListed ? [entry] : []),
      ...(items === null ? [] : [{ kind: "list", place, gate: gateIn(items), endpoint } as const]),
      ...objectEntries(place, objectsIn(field), { endpoint }),
    ];
  });
}
