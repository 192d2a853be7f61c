import { connection, field, Graph, type ObjectType, object, schema, t } from "../../src/graphql/index.ts";
import { PorticoApp } from "../../src/index.ts";
import { CursorPagination } from "../../src/pagination/index.ts";
import { type TestClient, testClient } from "../../src/testing/index.ts";
import type { ListDeclaration, ListFilter } from "./list-declaration.ts";
import { parents } from "./list-rows.ts";
import type { ListSource } from "./list-source.ts";

/** The ids on all pages, in the order of the list, for each parent of a nested list. */
export interface Walk {
  readonly forward: ReadonlyMap<number, readonly number[]>;
  readonly backward: ReadonlyMap<number, readonly number[]>;
}

/** A list that is not nested has one walk, under this number. */
export const ALONE = 0;
const MAX_PAGES = 200;

/** Pages through a list to its end, and back to its start. */
export async function walkList(list: ListDeclaration, source: ListSource): Promise<Walk> {
  const app = new PorticoApp({ logger: false, cursorKeys: ["a secret of at least thirty-two bytes"] });
  try {
    const handler = (): never => source.handlerOf(list) as never;
    return list.isNested ? await walkNested(app, list, handler) : await walkRoute(app, list, handler);
  } finally {
    await app.close();
  }
}

function strategyOf({ order, isSortedByClient, nulls, filter, size }: ListDeclaration): CursorPagination<any, any> {
  const sorted = isSortedByClient ? { sortable: order.map(([column]) => ({ column, public: true })) } : { order };
  const by = { type: "integer", by: ["equal", "in", "range", "null"] } as const;
  return new CursorPagination<any, any>({
    ...sorted,
    ...(nulls === undefined ? {} : { nulls }),
    ...(filter === null ? {} : { filterable: { part: { column: filter.column, ...by, public: true } } }),
    defaultPageSize: size,
  });
}

/** The sort and the filter of the client as query parameters. */
function queryParametersOf({ order, isSortedByClient, filter }: ListDeclaration): string {
  const sort = order.map(([column, way]) => (way === "desc" ? `-${column}` : column)).join();
  const parameters = [
    ...(isSortedByClient ? [`sort=${sort}`] : []),
    ...(filter === null ? [] : [`${filter.test === "equal" ? "part" : `part.${filter.test}`}=${valueOf(filter)}`]),
  ];
  return parameters.length === 0 ? "" : `?${parameters.join("&")}`;
}

/** The sort and the filter of the client as arguments of a connection. */
function argumentsOf({ order, isSortedByClient, filter }: ListDeclaration): string {
  const sort = order.map(([column, way]) => `${column}_${way}`.toUpperCase()).join();
  const value = filter === null ? null : valueOf(filter);
  return [
    ...(isSortedByClient ? [`, sort: [${sort}]`] : []),
    ...(filter === null
      ? []
      : [`, filter: { part: { ${filter.test}: ${filter.test === "in" ? `[${value}]` : value} } }`]),
  ].join("");
}

function valueOf({ test, value }: ListFilter): string {
  if (test === "isNull") return String(value > 0);
  return test === "in" ? `${value},${value + 1}` : String(value);
}

async function walkRoute(app: PorticoApp, list: ListDeclaration, handler: () => never): Promise<Walk> {
  const strategy = strategyOf(list);
  app.get("/rows", ({ response }) => response.apaginate(handler(), { strategy } as never) as never);
  const client = testClient(app);
  interface Body {
    readonly items: readonly { readonly id: number }[];
    readonly pagination: { readonly links: Readonly<Record<"next" | "prev", string | undefined>> };
  }
  const get = async (path: string): Promise<Body> => {
    const response = await client.get(path);
    if (response.status !== 200) throw new Error(response.text());
    return response.json() as Body;
  };
  const follow = (link: string): Promise<Body> => get(link.slice(link.indexOf("/rows")));

  let body = await get(`/rows${queryParametersOf(list)}`);
  const forward = body.items.map(({ id }) => id);
  for (let pages = 0; body.pagination.links.next !== undefined && pages < MAX_PAGES; pages++) {
    body = await follow(body.pagination.links.next);
    forward.push(...body.items.map(({ id }) => id));
  }
  const backward = body.items.map(({ id }) => id);
  for (let pages = 0; body.pagination.links.prev !== undefined && pages < MAX_PAGES; pages++) {
    body = await follow(body.pagination.links.prev);
    backward.unshift(...body.items.map(({ id }) => id));
  }
  return { forward: new Map([[ALONE, forward]]), backward: new Map([[ALONE, backward]]) };
}

async function walkNested(app: PorticoApp, list: ListDeclaration, handler: () => never): Promise<Walk> {
  const Row: ObjectType<{ readonly id: number; readonly parent: number }> = object("Row", { id: t.int });
  const Parent: ObjectType<{ readonly id: number }> = object("Parent", {
    rows: connection(Row, strategyOf(list) as unknown as CursorPagination, { parent: { parent: "id" } })(handler),
  });
  const query = { parent: field(Parent, { params: { id: t.int } })(({ id }) => ({ id })) };
  new Graph(schema({ query }), { limits: { cost: null } }).mount(app);
  const client = testClient(app);
  return { forward: await walkParents(client, list, "first"), backward: await walkParents(client, list, "last") };
}

/** Pages through the lists of all parents at once. */
async function walkParents(
  client: TestClient,
  list: ListDeclaration,
  way: "first" | "last",
): Promise<ReadonlyMap<number, readonly number[]>> {
  const seen = new Map(parents.map((parent) => [parent, [] as number[]]));
  let places = new Map(parents.map((parent) => [parent, ""]));
  for (let pages = 0; places.size > 0 && pages < MAX_PAGES; pages++) {
    const next = new Map<number, string>();
    for (const [parent, { nodes, pageInfo }] of await askParents(
      client,
      `${way}: ${list.size}${argumentsOf(list)}`,
      places,
    )) {
      const ids = nodes.map(({ id }) => id);
      if (way === "first") seen.get(parent)?.push(...ids);
      else seen.get(parent)?.unshift(...ids);
      const [isMore, place] =
        way === "first"
          ? [pageInfo.hasNextPage, `, after: "${pageInfo.endCursor}"`]
          : [pageInfo.hasPreviousPage, `, before: "${pageInfo.startCursor}"`];
      if (isMore) next.set(parent, place);
    }
    places = next;
  }
  return seen;
}

interface NestedPage {
  readonly nodes: readonly { readonly id: number }[];
  readonly pageInfo: Readonly<Record<"hasNextPage" | "hasPreviousPage", boolean>> &
    Readonly<Record<"startCursor" | "endCursor", string>>;
}

async function askParents(
  client: TestClient,
  args: string,
  places: ReadonlyMap<number, string>,
): Promise<ReadonlyMap<number, NestedPage>> {
  const fields = [...places].map(
    ([parent, place]) =>
      `p${parent}: parent(id: ${parent}) { rows(${args}${place}) { nodes { id } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`,
  );
  const response = await client.post("/graphql", { body: { query: `{ ${fields.join(" ")} }` } });
  const { data, errors } = response.json() as {
    readonly data: Readonly<Record<string, { readonly rows: NestedPage }>>;
    readonly errors?: unknown;
  };
  if (errors !== undefined) throw new Error(JSON.stringify(errors));
  return new Map([...places.keys()].map((parent) => [parent, data[`p${parent}`]?.rows as NestedPage]));
}
