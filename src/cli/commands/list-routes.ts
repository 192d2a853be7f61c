import { isServed } from "../../http/routing/is-served.ts";
import type { Route } from "../../http/routing/route.ts";
import type { SocketRoute } from "../../http/routing/socket-route.ts";
import { describeGate } from "../../kernel/access/describe-gate.ts";
import type { Gate } from "../../kernel/access/gate.ts";
import { gateNodeOf } from "../../kernel/access/read-gate.ts";
import { ratesOf } from "../../kernel/limits/rate-limit.ts";
import type { PorticoApp } from "../../portico-app.ts";
import type { Result } from "../output/result.ts";
import { tableLines } from "../output/table-lines.ts";

/** A route or a socket as `portico routes --json` prints it. */
interface ListedRoute {
  /** `WebSocket` for a socket. */
  readonly method: Route["method"] | "WebSocket";
  readonly path: string;
  readonly auth: string;
  /** The largest body, or the largest message of a socket, in bytes; `null` for a request without a body. */
  readonly maxBody: number | null;
  /** `null` if the handler may take as long as it wants. */
  readonly timeoutSeconds: number | null;
  readonly rateLimits: readonly string[];
  readonly schemas: readonly string[];
}

/** Lists the routes and sockets by path. */
export function listRoutes(app: PorticoApp, width: number | null): Result {
  const { routes, sockets } = app.table;
  const { maxBody, timeouts } = app.settings;
  const listed = [
    ...routes.filter(isServed).map((route) => listedRoute(route, maxBody, timeouts.handlerSeconds)),
    ...sockets.map(listedSocket),
  ].toSorted(byPath);
  const rows = listed.map((route) => ({ ...route, limits: limitsOf(route) }));
  const columns = { method: "method", path: "path", auth: "auth", limits: "limits", schemas: "schemas" };
  return { data: listed, lines: rows.length === 0 ? ["no routes"] : tableLines(rows, columns, width) };
}

function listedRoute(route: Route, maxBody: number, handlerSeconds: number): ListedRoute {
  const { method, path, auth, middleware, schemas, response, paginated, graph } = route;
  return {
    method,
    path,
    auth: wordsOf(auth),
    maxBody: method === "GET" || method === "HEAD" ? null : (route.maxBody ?? maxBody),
    timeoutSeconds: (route.timeoutSeconds ?? handlerSeconds) || null,
    rateLimits: ratesOf(middleware),
    schemas: graph === undefined ? present({ ...schemas, response, pages: paginated }) : ["GraphQL"],
  };
}

function listedSocket({ path, auth, middleware, schemas, accept, admission, graph }: SocketRoute): ListedRoute {
  return {
    method: "WebSocket",
    path,
    auth: wordsOf(auth),
    maxBody: accept.maxMessageBytes,
    timeoutSeconds: null,
    rateLimits: ratesOf([...(admission?.atUpgrade ?? []), ...middleware]),
    schemas: graph === undefined ? present(schemas) : ["GraphQL"],
  };
}

function wordsOf(gate: Gate | undefined): string {
  return describeGate(gate === undefined ? null : gateNodeOf(gate));
}

function present(schemas: Readonly<Record<string, unknown>>): readonly string[] {
  return Object.keys(schemas).filter((name) => schemas[name] !== undefined);
}

function limitsOf({ method, maxBody, timeoutSeconds, rateLimits }: ListedRoute): readonly string[] {
  return [
    ...(maxBody === null ? [] : [`${sizeText(maxBody)}${method === "WebSocket" ? " per message" : ""}`]),
    ...(timeoutSeconds === null ? [] : [`${timeoutSeconds} s`]),
    ...rateLimits,
  ];
}

const UNITS = ["B", "kB", "MB", "GB"];

function sizeText(bytes: number): string {
  const power = bytes === 0 ? 0 : Math.min(Math.floor(Math.log2(bytes) / 10), UNITS.length - 1);
  return `${Number((bytes / 1024 ** power).toFixed(1))} ${UNITS[power]}`;
}

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "WebSocket"];

/** By path, so that the list does not depend on the order of declaration. */
function byPath(a: ListedRoute, b: ListedRoute): number {
  if (a.path !== b.path) return a.path < b.path ? -1 : 1;
  return METHODS.indexOf(a.method) - METHODS.indexOf(b.method);
}
