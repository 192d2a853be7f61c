import { type GraphQLSchema, isObjectType } from "graphql";
import { gateIn } from "../../graphql/declare/fields/gate-extensions.ts";
import type { Graph } from "../../graphql/graph/graph.ts";
import type { Route } from "../../http/routing/route.ts";
import type { GateNode } from "../../kernel/access/gate-node.ts";
import type { AccessEntry } from "../surface/access-entry.ts";
import type { Operation, OperationKind } from "./operation.ts";
import { operationFor, type Step } from "./operation-for.ts";
import type { Target } from "./target.ts";
import { waysToTypes } from "./ways-to-types.ts";

/** The places of the schemas to attack, by operations. */
export function graphTargets(
  routes: readonly Route[],
  entries: readonly AccessEntry[],
  opens: (gate: GateNode | null) => boolean,
): readonly Target[] {
  const endpoints = routes.filter(({ graph, method }) => graph !== undefined && method === "POST");
  const ways = new Map(endpoints.map((route) => [route, waysIn(route, opens)]));
  return entries.flatMap((entry): readonly Target[] => {
    const { kind, place, gate } = entry;
    const home = endpoints.find(({ path }) => path === entry.endpoint);
    if (home === undefined || (gate === null && kind !== "object")) return [];
    const operations = operationsFor(schemaOf(home), entry, ways.get(home) ?? new Map());
    const request = { kind: "graph", endpoint: home, operations } as const;
    const needsData = kind === "field" || kind === "type";
    const own: Target = { place, gate, middleware: home.middleware, request, isSafe: kind !== "mutation", needsData };
    // An endpoint for the same schema without that gate is a way around it.
    const others = home.auth === undefined ? [] : endpoints.filter((one) => isSibling(home, one));
    return [
      own,
      ...others.map((endpoint): Target => {
        const around = { ...request, endpoint };
        return { ...own, middleware: endpoint.middleware, request: around, isSafe: false, guardedAt: home.path };
      }),
    ];
  });
}

function schemaOf({ graph }: Route): GraphQLSchema {
  return (graph as Graph).schema;
}

function isSibling(home: Route, other: Route): boolean {
  return other !== home && other.auth === undefined && (other.graph as Graph).given === (home.graph as Graph).given;
}

type Ways = ReturnType<typeof waysToTypes>;

function waysIn(route: Route, opens: (gate: GateNode | null) => boolean): Ways {
  const schema = schemaOf(route);
  return waysToTypes(schema, ({ owner, field }) => {
    const type = schema.getType(owner);
    return opens(gateIn(field)) && (!isObjectType(type) || opens(gateIn(type)));
  });
}

/** The operations that ask for a place of the schema. */
function operationsFor(schema: GraphQLSchema, { kind, place }: AccessEntry, ways: Ways): readonly Operation[] {
  // The places of a second endpoint end with its path.
  const [coordinate = ""] = place.split(" at ");
  const [owner = "", name = ""] = coordinate.split(".");
  const there = ways.get(owner) ?? [];
  if (kind === "type") return there.map((steps) => operationFor("query", steps, owner));
  const type = schema.getType(owner);
  const field = isObjectType(type) ? type.getFields()[name] : undefined;
  if (field === undefined) return [];
  const step: Step = { owner, field };
  const root = kind === "object" ? rootKind(schema, owner) : kind;
  if (root === "field") return there.map((steps) => operationFor("query", [...steps, step]));
  return [operationFor(root as OperationKind, [step])];
}

/** The kind of a field of this type. */
function rootKind(schema: GraphQLSchema, owner: string): OperationKind | "field" {
  if (schema.getQueryType()?.name === owner) return "query";
  return schema.getMutationType()?.name === owner ? "mutation" : "field";
}
