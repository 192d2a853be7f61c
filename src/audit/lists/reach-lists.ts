import type { Graph } from "../../graphql/graph/graph.ts";
import type { Route } from "../../http/routing/route.ts";
import { onListRead, type ReadList } from "../../pagination/pages/note-list.ts";
import type { PorticoApp } from "../../portico-app.ts";
import type { Operation } from "../targets/operation.ts";
import { filledPath } from "../targets/targets-of.ts";

/** The lists of an application that requests have read. */
export interface ReachedLists {
  readonly lists: readonly ReadList[];
  /** The declared lists that no request has read, each with the reason. */
  readonly unreached: readonly { readonly place: string; readonly reason: string }[];
  /** The number of declared lists. */
  readonly declared: number;
}

/** A declared list, and the requests that may read it. */
interface Declared {
  readonly place: string;
  readonly requests: readonly Request[];
}
interface Request {
  readonly method: string;
  readonly url: string;
  readonly body?: string;
}

/**
 * Reads every list that an application declares: the routes with `paginated` and the connections of its schemas. The
 * source of a list is known only when its handler or resolver runs. Only queries and GET requests are sent.
 *
 * @param headers the credential of the caller
 */
export async function reachLists(app: PorticoApp, headers: Readonly<Record<string, string>>): Promise<ReachedLists> {
  const lists: ReadList[] = [];
  const stop = onListRead((list) => {
    lists.push({ ...list, place: list.place.startsWith("/") ? `GET ${list.place}` : list.place });
  });
  try {
    const unreached: { readonly place: string; readonly reason: string }[] = [];
    const declared = await declaredLists(app);
    for (const { place, requests } of declared) {
      const isRead = (): boolean => lists.some((list) => list.place === place);
      let reason = "no query leads there";
      for (const request of requests) {
        if (isRead()) break;
        reason = await ask(app, request, headers);
      }
      if (!isRead()) unreached.push({ place, reason });
    }
    return { lists, unreached, declared: declared.length };
  } finally {
    stop();
  }
}

async function declaredLists(app: PorticoApp): Promise<readonly Declared[]> {
  const { routes } = app.table;
  const paginated = routes
    .filter(({ method, paginated: pages }) => method === "GET" && pages !== undefined)
    .map(({ path }) => ({ place: `GET ${path}`, requests: [{ method: "GET", url: filledPath(path) }] }));
  const endpoints = routes.filter(({ graph, method }) => graph !== undefined && method === "POST");
  if (endpoints.length === 0) return paginated;
  // Applications without an endpoint need not have graphql installed.
  const { listOperations } = await import("./list-operations.ts");
  return [...paginated, ...endpoints.flatMap((route) => connections(route, listOperations))];
}

function connections(
  { path, graph }: Route,
  listOperations: (schema: Graph["schema"]) => ReadonlyMap<string, readonly Operation[]>,
): readonly Declared[] {
  return [...listOperations((graph as Graph).schema)].map(([place, operations]) => ({
    place,
    requests: operations.map(({ query, variables }) => ({
      method: "POST",
      url: path,
      body: JSON.stringify({ query, variables }),
    })),
  }));
}

/** Sends a request. Returns the reason why it may have read no list. */
async function ask(app: PorticoApp, request: Request, headers: Readonly<Record<string, string>>): Promise<string> {
  const type = request.body === undefined ? {} : { "content-type": "application/json" };
  const { status, body } = await app.inject({ ...request, headers: { ...headers, ...type } });
  const { errors, detail, title } = parsed(body.toString("utf8"));
  const message = errors?.[0]?.message ?? (status < 400 ? undefined : (detail ?? title));
  return message === undefined ? NOTHING_READ : `${status} ${message}`;
}

const NOTHING_READ =
  "there is no data on the way, or its resolver is not a connection or connectionResolver of Portico";

interface Body {
  readonly errors?: readonly { readonly message: string }[];
  readonly detail?: string;
  readonly title?: string;
}

function parsed(text: string): Body {
  try {
    return (JSON.parse(text) as Body | null) ?? {};
  } catch {
    return {};
  }
}
