import { Conflict, memoryStores, PorticoApp, type Topic, topic } from "portico";
import { authentication, useAuth } from "portico/auth";
import { connection, field, Graph, mutation, type ObjectType, object, schema, subscription, t } from "portico/graphql";
import { CursorPagination } from "portico/pagination";
import { migrate, openDatabase, userModel } from "portico/sql";
import { z } from "zod";

export const credentials: { readonly identifier: string; readonly password: string } = {
  identifier: "ann",
  password: "correct horse battery",
};
export const ticks: Topic<number> = topic<number>("ticks");

export interface ClientAppOptions {
  /** Called before everything else with the path of a request. It may throw. */
  readonly before?: (path: string) => void;
  /** An HTML page at `/`. */
  readonly html?: string;
  /** A script at `/client.js`. */
  readonly script?: string;
}

interface BookRow {
  readonly id: string;
  readonly title: string;
}

export const books: readonly BookRow[] = Array.from({ length: 95 }, (_, n) => ({
  id: `book-${String(n).padStart(3, "0")}`,
  title: `Title ${n}`,
}));

export interface ClientApp {
  readonly app: PorticoApp;
  /** The requests that arrived, such as `POST /account/refresh`. */
  readonly seen: string[];
  /** The number of subscriptions that the server has open. */
  readonly open: () => number;
  /** Makes every token and session of the user invalid. */
  revokeAll(): Promise<void>;
  close(): Promise<void>;
}

/** An application with accounts, lists, a GraphQL API and a subscription, for tests of the client. */
export async function clientApp({
  before = () => {},
  html = "",
  script = "",
}: ClientAppOptions = {}): Promise<ClientApp> {
  const database = openDatabase("sqlite::memory:");
  await migrate(database, "up");
  const stores = memoryStores();
  const User = userModel(database, { bus: stores.bus });
  const { password } = credentials;
  const ann = await User.objects.createUser({ username: "ann", email: "ann@shop.example", password });
  const seen: string[] = [];
  const app = new PorticoApp({
    logger: false,
    stores,
    // Other tests keep the machine busy, and the server must not shed load because of them.
    load: { report: true },
    cursorKeys: ["the cursors of the client's tests, 0123456789abcdef"],
    shutdown: { signals: [], delaySeconds: 0, socketSeconds: 0, deadlineSeconds: 1 },
  });
  app.use(({ request }, next) => {
    const path = new URL(request.url).pathname;
    seen.push(`${request.method} ${path}`);
    before(path);
    return next();
  });
  app.use(
    authentication({ userModel: User, secret: "the secret of the client's tests, 0123456789", audience: "client" }),
  );
  addRoutes(app);
  app.get("/", { openapi: false }, ({ response }) => response.html(html));
  app.get("/client.js", { openapi: false }, ({ response }) =>
    response.header("content-type", "text/javascript").text(script),
  );
  const live = { open: 0 };
  new Graph(graphqlSchema(live), { uploads: { enabled: true } }).mount(app);
  return {
    app,
    seen,
    open: () => live.open,
    revokeAll: () => User.objects.renewCredentials(ann),
    async close() {
      await app.close();
      await database.destroy();
    },
  };
}

const byId = new CursorPagination({ order: [["id", "asc"]], maxPageSize: 50 });

function addRoutes(app: PorticoApp): void {
  const Book = z.object({ id: z.string(), title: z.string() });
  app.get("/secret", { auth: useAuth() }, ({ user }) => ({ name: user.displayName }));
  app.get("/books", { paginated: { strategy: byId, item: Book } }, ({ response }) =>
    response.apaginate(books, { strategy: byId }),
  );
  app.get("/numbered", ({ response }) => response.paginate(books));
  app.get(
    "/books/:id",
    { response: Book },
    ({ path }) => books.find(({ id }) => id === path.id) ?? { id: "", title: "" },
  );
  app.post("/echo", { body: z.object({ text: z.string() }) }, ({ body, response }) => response.status(201).json(body));
  app.put("/nothing", () => undefined);
  app.get("/query", ({ request }) => request.url.split("?")[1] ?? "");
  app.get("/taken", () => {
    throw new Conflict("The title is taken", { code: "TITLE_TAKEN" });
  });
  app.get(
    "/slow",
    ({ request }) => new Promise((resolve) => request.signal.addEventListener("abort", () => resolve("late"))),
  );
  app.post("/tick", { body: z.object({ value: z.number() }) }, ({ body }) => app.pubsub.publish(ticks, body.value));
}

function graphqlSchema(live: { open: number }): ReturnType<typeof schema> {
  const Book: ObjectType<BookRow> = object("Book", { id: t.id, title: t.string });
  let sales = 0;
  return schema({
    query: {
      hello: field(t.string)(() => "world"),
      add: field(t.int, { params: { a: t.int, b: t.int } })(({ a, b }) => a + b),
      secret: field(t.string, { auth: true })(({ ctx }) => ctx.user.displayName),
      sales: field(t.int)(() => sales),
      books: connection(Book, byId)(() => books),
    },
    mutation: {
      sell: mutation(t.int)(() => ++sales),
      sellSecretly: mutation(t.int, { auth: true })(() => ++sales),
      measure: mutation(t.int, { params: { file: t.upload } })(({ file }) => file.size),
    },
    subscription: {
      ticks: subscription(t.int)(async function* ({ ctx }) {
        live.open += 1;
        try {
          yield* ctx.pubsub.subscribe(ticks);
        } finally {
          live.open -= 1;
        }
      }),
      secretTicks: subscription(t.int, { auth: true })(async function* ({ ctx }) {
        yield* ctx.pubsub.subscribe(ticks);
      }),
    },
  });
}
