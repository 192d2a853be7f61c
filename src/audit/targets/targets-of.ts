import type { Route } from "../../http/routing/route.ts";
import type { GateNode } from "../../kernel/access/gate-node.ts";
import type { PorticoApp } from "../../portico-app.ts";
import { type AccessEntry, handlerPlace } from "../surface/access-entry.ts";
import { EMPTY_QUERY } from "./operation.ts";
import type { Target } from "./target.ts";

/**
 * The places to attack.
 *
 * @param opens whether a gate lets the caller with all permissions in
 */
export async function targetsOf(
  app: PorticoApp,
  surface: readonly AccessEntry[],
  opens: (gate: GateNode | null) => boolean,
): Promise<readonly Target[]> {
  const { routes, sockets } = app.table;
  const gated = surface.filter(({ gate, kind }) => gate !== null && kind !== "list" && kind !== "object");
  const direct = gated.flatMap(({ kind, place, gate }): readonly Target[] => {
    if (gate === null || (kind !== "route" && kind !== "socket")) return [];
    if (kind === "route") return routeTargets(routes, place, gate);
    const socket = sockets.find(({ path }) => place === `WebSocket ${path}`);
    if (socket === undefined || socket.graph !== undefined) return [];
    const request = { kind: "socket", path: filledPath(socket.path) } as const;
    return [{ place, gate, middleware: socket.middleware, request, isSafe: true, needsData: false }];
  });
  const fields = gated.filter(({ endpoint }) => endpoint !== undefined);
  if (fields.length === 0) return direct;
  // Applications without an endpoint need not have graphql installed.
  const { graphTargets } = await import("./graph-targets.ts");
  return [...direct, ...graphTargets(routes, fields, opens)];
}

/** The objects that handlers declare, each as a separate place. */
export async function objectTargetsOf(
  app: PorticoApp,
  surface: readonly AccessEntry[],
  opens: (gate: GateNode | null) => boolean,
): Promise<readonly Target[]> {
  const { routes } = app.table;
  const declared = surface.flatMap((entry) => {
    const { kind, place, gate, load } = entry;
    if (kind !== "object" || gate === null || load === undefined) return [];
    const handler = handlerPlace(entry);
    const around = surface.find((one) => one.place === handler && one.kind !== "list");
    return [{ entry: { ...entry, place: handler, gate: around?.gate ?? null }, place, object: { gate, load } }];
  });
  if (declared.length === 0) return [];
  const hasFields = declared.some(({ entry }) => entry.endpoint !== undefined);
  const graph = hasFields ? await import("./graph-targets.ts") : null;
  return declared.flatMap(({ entry, place, object }) => {
    const targets =
      entry.endpoint === undefined
        ? routeTargets(routes, entry.place, entry.gate)
        : (graph?.graphTargets(routes, [entry], opens) ?? []);
    // Only callers who must be refused are tried, because the object does not exist.
    return targets.slice(0, 1).map((target) => ({ ...target, place, object, isSafe: false, needsData: false }));
  });
}

function routeTargets(routes: readonly Route[], place: string, gate: GateNode | null): readonly Target[] {
  const route = routes.find(({ method, path }) => place === `${method} ${path}`);
  if (route === undefined) return [];
  const { method, path, middleware, graph } = route;
  if (graph !== undefined) {
    if (method !== "POST") return [];
    const request = { kind: "graph", endpoint: route, operations: [EMPTY_QUERY] } as const;
    return [{ place, gate, middleware, request, isSafe: true, needsData: false }];
  }
  const request = { kind: "route", method, path: filledPath(path) } as const;
  const isSafe = method === "GET" || method === "HEAD" || method === "OPTIONS";
  return [{ place, gate, middleware, request, isSafe, needsData: false }];
}

/** The path with dummies for its parameters. */
export function filledPath(path: string): string {
  return path.replace(/:\w+(?:\([^)]*\))?\??/g, "1").replaceAll("*", "1");
}
