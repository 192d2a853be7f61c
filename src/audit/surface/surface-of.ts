import type { Graph } from "../../graphql/graph/graph.ts";
import { isServed } from "../../http/routing/is-served.ts";
import type { Route } from "../../http/routing/route.ts";
import type { SocketRoute } from "../../http/routing/socket-route.ts";
import { declaredObjects } from "../../kernel/access/authorized.ts";
import type { GateNode } from "../../kernel/access/gate-node.ts";
import { gateNodeOf } from "../../kernel/access/read-gate.ts";
import type { PorticoApp } from "../../portico-app.ts";
import { type AccessEntry, objectEntries } from "./access-entry.ts";

/**
 * Every place of an application that a caller can reach, with its gate: routes, sockets, root fields, lists, the objects that
 * handlers declare, and the types and fields with a gate. A field without one is as open as its object.
 */
export async function surfaceOf(app: PorticoApp): Promise<readonly AccessEntry[]> {
  const { routes, sockets } = app.table;
  return [
    ...routes.filter(isServed).flatMap(routeEntries),
    ...sockets.map(({ path, auth, graph }: SocketRoute): AccessEntry => {
      const gate = auth === undefined ? null : gateNodeOf(auth);
      return { kind: "socket", place: `WebSocket ${path}`, gate, isBuiltIn: graph !== undefined };
    }),
    ...(await graphEntries(endpointsOf(app))),
  ];
}

/** A place where a `Graph` is mounted. */
export interface MountedGraph {
  readonly graph: Graph;
  readonly path: string;
  readonly gate: GateNode | null;
}

/** The GraphQL endpoints of an application. One `Graph` may be mounted in several places. */
export function endpointsOf({ table }: PorticoApp): readonly MountedGraph[] {
  return table.routes.flatMap(({ graph, method, path, auth }) =>
    graph === undefined || method !== "POST"
      ? []
      : [{ graph: graph as Graph, path, gate: auth === undefined ? null : gateNodeOf(auth) }],
  );
}

/** Applications without an endpoint need not have graphql installed. */
async function graphEntries(endpoints: readonly MountedGraph[]): Promise<readonly AccessEntry[]> {
  if (endpoints.length === 0) return [];
  const { schemaSurface } = await import("./schema-surface.ts");
  return endpoints.flatMap(({ graph: { schema }, path, gate }, at) => {
    const entries = schemaSurface(schema, path, gate);
    // The places of the first endpoint need no path.
    return at === 0 ? entries : entries.map((entry) => ({ ...entry, place: `${entry.place} at ${path}` }));
  });
}

function routeEntries({
  method,
  path,
  auth,
  params,
  paginated,
  isBuiltIn = false,
  graph,
}: Route): readonly AccessEntry[] {
  const place = `${method} ${path}`;
  const gate = auth === undefined ? null : gateNodeOf(auth);
  return [
    { kind: "route", place, gate, isBuiltIn, isEndpoint: graph !== undefined },
    ...(paginated === undefined ? [] : [{ kind: "list", place, gate: paginated.rule } as const]),
    ...objectEntries(place, declaredObjects(params)),
  ];
}
