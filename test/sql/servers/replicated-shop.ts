import { SignJWT } from "jose";
import { type SelectQueryBuilder, sql } from "kysely";
import { Client } from "pg";
import { memoryStores, PorticoApp, type Stores, topic } from "portico";
import {
  APIKeyAuthBackend,
  APIKeys,
  AuthenticationMiddleware,
  JWTAuthBackend,
  SessionAuthBackend,
  SessionMiddleware,
  SimpleUser,
} from "portico/auth";
import {
  connection,
  field,
  Graph,
  loader,
  mutation,
  type ObjectType,
  object,
  schema,
  subscription,
  t,
} from "portico/graphql";
import { CursorPagination } from "portico/pagination";
import { type Database, tableHandler, totalsCache, transaction } from "portico/sql";
import type { LogCatcher, TestClient } from "portico/testing";
import { expect, onTestFinished } from "vitest";
import type { OwnPostgres } from "../../../lab/servers/own-postgres.ts";
import { SECRET } from "../../auth/sessions/session-app.ts";
import { signIn as startSession } from "../../sign-in.ts";

export interface Tables {
  books: { id: number; title: string; shelf: number };
}
export interface BookRow {
  readonly id: number;
  readonly title: string;
  readonly shelf: number;
  readonly isFromReplica: boolean;
}
export interface Page {
  readonly items: readonly BookRow[];
  readonly pagination: { readonly total_items: number };
}

const byId = new CursorPagination({ order: [["id", "asc"]] });
const added = topic<{ shelf: number }>("books.added");

export interface ShopOptions {
  readonly stores?: Stores;
  readonly logger?: LogCatcher | false;
}

/** An application whose lists say which server their rows come from. */
export function shopOn(
  database: Database<Tables>,
  { stores = memoryStores(), logger = false }: ShopOptions = {},
): PorticoApp {
  const app = new PorticoApp({ logger, stores, cursorKeys: [SECRET] });
  onTestFinished(() => app.close());
  const keys = new APIKeys();
  const tokens = new JWTAuthBackend({ secretKey: SECRET, identifier: "sub", audience: "shop" });
  app.use(new SessionMiddleware({ secret: SECRET }));
  app.use(
    new AuthenticationMiddleware({
      userModel: SimpleUser,
      backend: [new SessionAuthBackend(), tokens, new APIKeyAuthBackend({ keys })],
    }),
  );
  app.post("/login/:name", ({ request, path }) => request.sessions.login(new SimpleUser(path.name)));
  app.post("/keys/:name", ({ path }) => keys.create(new SimpleUser(path.name), { name: "test" }));
  const list = tableHandler(booksOf(database));
  const add = async (title: string, to = database): Promise<void> => {
    await to
      .insertInto("books")
      .values({ title } as never)
      .execute();
  };
  app.get("/books", ({ response }) => response.apaginate(list, { strategy: byId }));
  app.get("/twice", async ({ response }) => {
    await booksOf(database).execute();
    return response.apaginate(list, { strategy: byId });
  });
  app.get("/counted", ({ response }) => response.apaginate(list, { strategy: "page_number" }));
  const counted = tableHandler(booksOf(database), { totalsCache: totalsCache({ seconds: 0 }) });
  app.get("/counted-once", ({ response }) => response.apaginate(counted, { strategy: "page_number" }));
  app.post("/books/:title", ({ path }) => add(path.title));
  app.post("/in-transaction/:title", { params: { trx: transaction(database) } }, ({ trx, path }) =>
    add(path.title, trx),
  );
  app.post("/read-after-write/:title", async ({ path, response }) => {
    await booksOf(database).execute();
    await add(path.title);
    return response.apaginate(list, { strategy: byId });
  });
  new Graph(graphOn(database, add)).mount(app);
  return app;
}

export function booksOf(database: Database<Tables>): SelectQueryBuilder<Tables, "books", BookRow> {
  return database
    .replica()
    .selectFrom("books")
    .select(["id", "title", "shelf", sql<boolean>`pg_is_in_recovery()`.as("isFromReplica")]);
}

function graphOn(database: Database<Tables>, add: (title: string) => Promise<void>) {
  const sources = loader(async (ids: readonly number[]) => {
    const rows = await booksOf(database).where("shelf", "in", ids).execute();
    return ids.map((id) => rows.some(({ shelf, isFromReplica }) => shelf === id && isFromReplica));
  });
  const Book: ObjectType<BookRow> = object("Book", { title: t.string, isFromReplica: t.boolean });
  const Shelf: ObjectType<{ readonly id: number }> = object("Shelf", {
    id: t.int,
    books: connection(Book, byId, { parent: { shelf: "id" } })(() => tableHandler(booksOf(database))),
    isLoadedFromReplica: field(t.boolean)(({ parent, ctx }) => sources.load(ctx, parent.id)),
  });
  const shelf = { id: 1 };
  return schema({
    query: { shelf: field(Shelf)(() => shelf) },
    mutation: {
      add: mutation(Shelf, { params: { title: t.string } })(async ({ title, ctx }) => {
        await add(title);
        await ctx.pubsub.publish(added, { shelf: 1 });
        return shelf;
      }),
    },
    subscription: {
      added: subscription(Shelf)(async function* ({ ctx }) {
        for await (const { shelf: id } of ctx.pubsub.subscribe(added)) yield { id };
      }),
    },
  });
}

/** The headers of a credential. */
export type Caller = Readonly<Record<string, string>>;

export async function signIn(
  client: TestClient,
  name: string,
): Promise<Readonly<Record<"session" | "token" | "key", Caller>>> {
  const { key } = (await client.post(`/keys/${name}`)).json() as { key: string };
  const token = new SignJWT({ sub: name, aud: "shop" }).setProtectedHeader({ alg: "HS256" }).setExpirationTime("1h");
  return {
    session: await startSession(client, `/login/${name}`),
    token: { authorization: `Bearer ${await token.sign(new TextEncoder().encode(SECRET))}` },
    key: { "x-api-key": key },
  };
}

export async function read(client: TestClient, headers: Caller = {}, path = "/books"): Promise<Page> {
  const response = await client.get(path, { headers });
  expect(response.status).toBe(200);
  return response.json() as Page;
}

export async function titles(client: TestClient, headers: Caller = {}): Promise<readonly string[]> {
  return (await read(client, headers)).items.map(({ title }) => title);
}

/** Reads until the list comes from a replica, or from the primary: servers are checked once a second. */
export async function readUntil(
  source: "replica" | "primary",
  client: TestClient,
  headers: Caller = {},
  path = "/books",
): Promise<Page> {
  let page: Page | undefined;
  await expect
    .poll(async () => {
      page = await read(client, headers, path);
      return page.items[0]?.isFromReplica;
    })
    .toBe(source === "replica");
  return page as Page;
}

export async function onServer(server: OwnPostgres, text: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: server.url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
}

/** Resolves when a replica shows everything that was committed so far. */
export async function caughtUp(replica: OwnPostgres, primary: OwnPostgres): Promise<void> {
  const [now] = await onServer(primary, "select pg_current_wal_flush_lsn()::text as lsn");
  await expect
    .poll(() => onServer(replica, `select pg_last_wal_replay_lsn() >= '${String(now?.["lsn"])}' as done`))
    .toEqual([{ done: true }]);
}

/** From now on, the replica shows the state of this moment. */
export async function pauseReplay(replica: OwnPostgres): Promise<void> {
  await onServer(replica, "select pg_wal_replay_pause()");
  await expect
    .poll(() => onServer(replica, "select pg_get_wal_replay_pause_state() as state"))
    .toEqual([{ state: "paused" }]);
}

export async function resumeReplay(replica: OwnPostgres): Promise<void> {
  await onServer(replica, "select pg_wal_replay_resume()");
}
