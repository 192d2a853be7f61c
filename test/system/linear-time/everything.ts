import { connect } from "node:net";
import { PorticoApp } from "portico";
import { authentication, limitLogin } from "portico/auth";
import { connection, field, Graph, mutation, type ObjectType, object, schema, subscription, t } from "portico/graphql";
import { CursorPagination, SyncListDataHandler } from "portico/pagination";
import { type LiveClient, liveClient } from "portico/testing";
import { z } from "zod";
import { memoryUsers } from "../../auth/accounts/memory-users.ts";
import { publicColumns, publicFilters } from "../../pagination/ways.ts";

/** An application that reads all that a client can send. */
export interface Everything {
  readonly live: LiveClient;
  /** Sends a request without a socket, from an address that no other request has; resolves with the status. */
  readonly ask: (
    method: string,
    url: string,
    headers?: Readonly<Record<string, string>>,
    body?: string | Buffer,
  ) => Promise<number>;
  /** The headers of a browser that has the explorer already: it is not sent again. */
  readonly explorer: Readonly<Record<string, string>>;
  /** Posts to an account route. */
  readonly account: (path: string, body: object) => Promise<number>;
  /** Writes bytes on a connection of their own, up to the head of the response; resolves with the status. */
  readonly write: (lines: readonly string[]) => Promise<number>;
}

export const ORIGIN = "https://shop.example";

interface BookRow {
  readonly id: number;
  readonly title: string;
}

export async function everything(): Promise<Everything> {
  const app = new PorticoApp({
    logger: { level: "info", stream: { write() {} } },
    trustedProxies: ["loopback"],
    // The tests keep the process busy, on purpose.
    load: { report: true },
    origins: [ORIGIN],
    cursorKeys: ["a secret of the tests, which is long enough"],
  });
  const users = memoryUsers();
  app.use(
    authentication({
      userModel: users,
      secret: "the secret of a test, which is long enough",
      audience: "bookshop",
      signInMails: true,
      mailer: async () => {},
    }),
  );
  const ann = await users.objects.createUser({ email: "ann@example.org", username: "ann", password: "correct horse" });
  app.post("/sign-in", async ({ request, response }) => {
    await request.sessions.login(ann);
    return response.empty();
  });
  declareRoutes(app);
  graph().mount(app);
  const live = await liveClient(app);
  const pages = await Promise.all(
    ["identity", "gzip"].map((coding) =>
      app.inject({ url: "/graphql", headers: { accept: "text/html", "accept-encoding": coding } }),
    ),
  );
  let requests = 0;
  const address = (): string => `10.${(requests >> 16) & 255}.${(requests >> 8) & 255}.${requests++ & 255}`;
  const ask: Everything["ask"] = async (method, url, headers = {}, body) => {
    const { status } = await app.inject({
      method,
      url,
      headers: { "x-forwarded-for": address(), ...headers },
      ...(body === undefined ? {} : { body }),
    });
    return status;
  };
  return {
    live,
    ask,
    explorer: { accept: "text/html", "if-none-match": pages.map(({ headers }) => String(headers["etag"])).join() },
    account: (path, body) =>
      ask("POST", `/account${path}`, { "content-type": "application/json" }, JSON.stringify(body)),
    write: (lines) => write(live.port, lines),
  };
}

function declareRoutes(app: PorticoApp): void {
  const books = new SyncListDataHandler<BookRow>([{ id: 1, title: "Emma" }], { name: "list" });
  const sorted = new CursorPagination({
    order: [["title", "asc"]],
    sortable: publicColumns("id"),
    filterable: publicFilters({
      title: { type: "text", by: ["in", "prefix"] },
      number: { column: "id", type: "number", by: ["range"] },
      since: { column: "id", type: "date", by: ["range"] },
    }),
  });
  app.get("/plain", () => "plain");
  app.get("/cookies", ({ request }) => Object.keys(request.cookies).length);
  app.get("/url", ({ request }) => request.url.length + request.ip.length);
  app.get("/fails", () => {
    throw new Error("a failure that is logged");
  });
  app.get("/items/:id", ({ request }) => request.params["id"]?.length);
  app.get("/files/*", ({ request }) => request.params["*"]?.length);
  app.get("/query", ({ request }) => Object.keys(request.query).length);
  app.get("/checked", { query: z.object({ a: z.array(z.string()).optional() }) }, ({ query }) => query.a?.length ?? 0);
  app.get("/pages", ({ response }) => response.paginate(books));
  app.get("/offsets", ({ response }) => response.paginate(books, { strategy: "limit_offset" }));
  app.get("/cursors", ({ response }) => response.paginate(books, { strategy: sorted }));
  app.post("/json", async ({ request }) => typeof (await request.json()));
  app.post("/text", async ({ request }) => (await request.text()).length);
  app.post("/own-login", async ({ request }) => limitLogin(await request.text(), async () => null));
  app.post("/form", async ({ request }) => [...(await request.form())].length);
  app.post("/validated", { body: z.object({ title: z.string().max(10) }) }, ({ body }) => body.title);
  app.socket("/echo", async ({ socket }) => {
    for await (const message of socket) socket.send(String(message.length));
  });
}

function graph(): Graph {
  const Book: ObjectType<BookRow> = object("Book", { id: t.int, title: t.string });
  const books = new SyncListDataHandler<BookRow>([{ id: 1, title: "Emma" }], { name: "books" });
  const query = {
    echo: field(t.int, { params: { text: t.nullable(t.string), list: t.nullable(t.list(t.int)) } })(
      ({ text, list }) => text?.length ?? list?.length ?? 0,
    ),
    books: connection(
      Book,
      new CursorPagination({
        order: [["title", "asc"]],
        filterable: { title: { type: "text", by: ["in", "prefix"] } },
      }),
    )(() => books),
  };
  const up = mutation(t.int, { params: { f: t.nullable(t.upload) } })(({ f }) => f?.filename.length ?? 0);
  const never = subscription(t.int)(async function* () {
    yield 1;
  });
  return new Graph(schema({ query, mutation: { up }, subscription: { never } }), {
    ide: true,
    uploads: { enabled: true },
    subscriptions: { connectsPerMinute: 0, messagesPerSecond: 0, operations: true },
  });
}

function write(port: number, lines: readonly string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    socket.on("error", reject);
    socket.once("data", (chunk) => {
      resolve(Number(chunk.toString("latin1", 9, 12)));
      socket.destroy();
    });
    socket.write(`${lines.join("\r\n")}\r\n\r\n`, "latin1");
  });
}
