import { randomUUID } from "node:crypto";
import { type Kysely, sql } from "kysely";
import { PorticoApp } from "portico";
import { connection, Graph, type ObjectType, object, schema, t } from "portico/graphql";
import { type CursorMetadata, CursorPagination } from "portico/pagination";
import { tableHandler } from "portico/sql";
import { liveClient, logCatcher, type TestClient, testClient } from "portico/testing";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { createTable, type Engine, insertRows, openEngine } from "../../lab/servers/engines.ts";
import { bodyOf, ids, range, SECRET } from "../pagination/ways.ts";

interface Row {
  readonly id: number;
  readonly genre: string;
  readonly published_at: Date;
}
interface Connection {
  readonly edges: readonly { readonly cursor: string; readonly node: { readonly id: number } }[];
  readonly pageInfo: {
    readonly hasNextPage: boolean;
    readonly hasPreviousPage: boolean;
    readonly endCursor: string | null;
  };
  readonly totalCount: number;
}

const Book: ObjectType<Row> = object("Book", { id: t.int });
const newest = new CursorPagination({
  order: [
    ["published_at", "desc"],
    ["id", "desc"],
  ],
  defaultPageSize: 7,
});
/** Two in each microsecond; every third is a novel. */
const rows = range(1, 60).map((id) => ({
  id,
  genre: id % 3 === 0 ? "novel" : "essay",
  published_at: `2024-01-01 00:00:00.${String(100_000 + Math.floor(id / 2))}+00`,
}));
const all = range(1, 60).toReversed();
const novels = all.filter((id) => id % 3 === 0);

describe.each([
  ["straight to the routes", async (app: PorticoApp) => testClient(app)],
  ["over a socket", liveClient],
])("a connection over a table of PostgreSQL, %s", (_way, open) => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await openEngine("PostgreSQL", `portico_connection_${randomUUID().slice(0, 8)}`);
    await createTable(engine, "books", { id: "key", genre: "text", published_at: "time" }, [
      "published_at desc, id desc",
    ]);
    await insertRows(engine, "books", rows);
  });
  afterAll(() => engine?.close());

  /** One strategy and one source, as a route and as a field; by genre, too. */
  async function serve(): Promise<TestClient> {
    const database = engine.database as Kysely<{ books: Row }>;
    const books = () => tableHandler(database.selectFrom("books").selectAll());
    const byGenre = (genre: string) =>
      tableHandler(database.selectFrom("books").selectAll().where("genre", "=", genre));
    const app = new PorticoApp({ logger: false, cursorKeys: [SECRET] });
    app
      .get("/books", ({ response }) => response.apaginate(books(), { strategy: newest }))
      .get("/books/:genre", ({ path: { genre }, response }) =>
        response.apaginate(byGenre(genre), { strategy: newest, cursorScope: { genre } }),
      );
    const query = {
      books: connection(Book, newest)(() => books()),
      byGenre: connection(Book, newest, {
        params: { genre: t.string },
        cursorScope: ({ args: { genre } }) => ({ genre }),
      })(({ genre }) => byGenre(genre)),
    };
    new Graph(schema({ query })).mount(app);
    onTestFinished(() => app.close());
    return open(app);
  }
  const SELECTION = "{ edges { cursor node { id } } pageInfo { hasNextPage hasPreviousPage endCursor } totalCount }";
  const ask = async (
    client: TestClient,
    field: string,
  ): Promise<{ data: { list: Connection } | null; errors?: unknown }> =>
    (await client.post("/graphql", { body: { query: `{ list: ${field} ${SELECTION} }` } })).json() as never;
  const list = async (client: TestClient, field: string): Promise<Connection> => {
    const { data, errors } = await ask(client, field);
    expect(errors).toBeUndefined();
    return (data as { list: Connection }).list;
  };
  const idsOf = ({ edges }: Connection): number[] => edges.map(({ node }) => node.id);
  const route = async (client: TestClient, path: string) => bodyOf<CursorMetadata>(await client.get(path));

  it("[pagination:PG-085] does not log the value of a key that no longer fits its column", async () => {
    const log = logCatcher();
    const database = engine.database as Kysely<{ books: Row }>;
    const byId = new CursorPagination();
    const app = new PorticoApp({ logger: log, cursorKeys: [SECRET] });
    app.get("/books", ({ response }) => {
      const renamed = database.selectFrom("books").select([sql<string>`concat('secret', id)`.as("id")]);
      return response.apaginate(tableHandler(renamed, { name: "books" }), { strategy: byId });
    });
    const books = connection(Book, byId)(() => tableHandler(database.selectFrom("books").selectAll()));
    new Graph(schema({ query: { books } })).mount(app);
    onTestFinished(() => app.close());
    const client = await open(app);
    const cursor = bodyOf<CursorMetadata>(await client.get("/books")).pagination.next_cursor;

    const { errors } = await ask(client, `books(after: "${cursor}")`);

    expect(errors).toMatchObject([{ extensions: { code: "BAD_USER_INPUT" } }]);
    expect(log.text).toContain("SQLSTATE 22P02");
    expect(log.text).not.toContain("secret");
  });

  it("[PAG-40] walks forward and backward, and returns every row once, in order", async () => {
    const client = await serve();

    const forward: number[] = [];
    let part = await list(client, "books(first: 7)");
    expect(part).toMatchObject({ totalCount: 60, pageInfo: { hasPreviousPage: false } });
    for (;;) {
      forward.push(...idsOf(part));
      if (!part.pageInfo.hasNextPage) break;
      part = await list(client, `books(first: 7, after: "${part.pageInfo.endCursor}")`);
    }
    const backward: number[] = [];
    for (part = await list(client, "books(last: 7)"); ; ) {
      backward.unshift(...idsOf(part));
      if (!part.pageInfo.hasPreviousPage) break;
      part = await list(client, `books(last: 7, before: "${part.edges[0]?.cursor}")`);
    }

    expect(forward).toEqual(all);
    expect(backward).toEqual(all);
  });

  it("[PAG-40] [pagination:PG-110] shares cursors with the route over the same table, in both directions", async () => {
    const client = await serve();

    const first = await route(client, "/books");
    const second = await list(client, `books(first: 7, after: "${first.pagination.next_cursor}")`);
    const third = await route(client, `/books?cursor=${second.pageInfo.endCursor}`);
    const back = await list(client, `books(last: 7, before: "${third.pagination.prev_cursor}")`);
    const between = await list(
      client,
      `books(after: "${first.pagination.next_cursor}", before: "${third.pagination.prev_cursor}", first: 20)`,
    );

    expect([...ids(first), ...idsOf(second), ...ids(third)]).toEqual(all.slice(0, 21));
    expect(idsOf(back)).toEqual(idsOf(second));
    expect(idsOf(between)).toEqual(idsOf(second));
  });

  it("[PAG-40] [pagination:PG-110] binds its cursors to its filter, as a route does", async () => {
    const client = await serve();

    const first = await list(client, 'byGenre(genre: "novel", first: 7)');
    const second = await route(client, `/books/novel?cursor=${first.pageInfo.endCursor}`);
    const third = await list(client, `byGenre(genre: "novel", first: 7, after: "${second.pagination.next_cursor}")`);
    const elsewhere = await ask(client, `byGenre(genre: "essay", first: 7, after: "${first.pageInfo.endCursor}")`);
    const unfiltered = await ask(client, `books(first: 7, after: "${first.pageInfo.endCursor}")`);

    expect([...idsOf(first), ...ids(second), ...idsOf(third)]).toEqual(novels);
    expect(first.totalCount).toBe(novels.length);
    for (const { data, errors } of [elsewhere, unfiltered]) {
      expect(data).toBeNull();
      expect(errors).toMatchObject([{ extensions: { code: "BAD_USER_INPUT" } }]);
    }
    expect((await client.get(`/books/essay?cursor=${first.pageInfo.endCursor}`)).json()).toMatchObject({
      status: 400,
      code: "cursor_mismatch",
    });
  });
});
