import { authentication, useAuth } from "../../../src/auth/index.ts";
import { connection, Graph, type ObjectType, object, schema, t } from "../../../src/graphql/index.ts";
import { PorticoApp, topic } from "../../../src/index.ts";
import { CursorPagination } from "../../../src/pagination/index.ts";
import { redisStores } from "../../../src/redis/index.ts";
import { openDatabase, tableHandler, userModel } from "../../../src/sql/index.ts";
import type { CounterStore } from "../../../src/stores/counter-store.ts";
import { obey } from "../sockets/obey.ts";
import type { BookRow, ScaleTables } from "./scale-place.ts";

/** One of several processes with the same users, sessions and books. */
const settings = JSON.parse(process.argv[2] ?? "{}") as { readonly database: string; readonly redis: string };
const database = openDatabase<ScaleTables>(settings.database, { poolSize: 4 });
const { counters, ...stores } = redisStores(settings.redis);
// They count, but never reject a request: the clients all have one address.
const patient: CounterStore = {
  increment: async (key, windowMs) => ({ ...(await counters.increment(key, windowMs)), value: 1 }),
  reset: (key, windowMs) => counters.reset(key, windowMs),
};
const app = new PorticoApp({
  logger: false,
  stores: { ...stores, counters: patient },
  shutdown: { signals: [] },
  // The run shares its machine with the clients.
  load: { report: true },
  cursorKeys: ["a key of the benchmark that signs its cursors"],
});
app.use(
  authentication({
    userModel: userModel(database),
    secret: "a secret of the benchmark, long enough",
    audience: "bench",
    mailer: async () => {},
    onEvent() {},
  }),
);
const newest = new CursorPagination({ order: [["id", "desc"]], defaultPageSize: 20 });
const books = () => tableHandler(database.selectFrom("books").selectAll());
const Book: ObjectType<BookRow> = object("Book", { id: t.int, title: t.string, author: t.string });
app.get("/open", () => ({ isOpen: true }));
app.get("/mine", { auth: useAuth() }, ({ user }) => ({ name: user.displayName }));
app.get("/books", { auth: useAuth() }, ({ response }) => response.apaginate(books(), { strategy: newest }));
new Graph(schema({ query: { books: connection(Book, newest, { auth: true })(() => books()) } })).mount(app);

const { port } = await app.listen({ port: 0 });
const changed = topic<number>("changed");
obey(port, (n) => stores.bus.publish(changed, n));
