import { authentication, useAuth } from "../../src/auth/index.ts";
import { field, Graph, schema, subscription, t } from "../../src/graphql/index.ts";
import { PorticoApp, type Stores, topic } from "../../src/index.ts";
import { type RedisAddress, redisStores } from "../../src/redis/index.ts";
import { openDatabase, sqlStores, userModel } from "../../src/sql/index.ts";
import type { CounterStore } from "../../src/stores/counter-store.ts";

/** Where a process of the fleet keeps its things. */
export interface FailoverSettings {
  readonly database: string;
  /** `null` keeps sessions, counters and events in the database. */
  readonly redis: RedisAddress | null;
  /** The port of the process that this one replaces. */
  readonly port: number;
}

const settings = JSON.parse(process.argv[2] ?? "{}") as FailoverSettings;
const database = openDatabase(settings.database, { statementSeconds: 2, timeoutSeconds: 2 });
const { durable, bus, counters }: Stores =
  settings.redis === null ? sqlStores(database) : redisStores(settings.redis, { prefix: "failover" });
// They count, but never reject a request: the clients all have one address.
const patient: CounterStore = {
  ...counters,
  increment: async (key, windowMs) => ({ ...(await counters.increment(key, windowMs)), value: 1 }),
  reset: (key, windowMs) => counters.reset(key, windowMs),
};
const app = new PorticoApp({
  logger: { level: "fatal" },
  stores: { durable, bus, counters: patient },
  shutdown: { signals: [] },
  load: { report: true },
});
app.use(
  authentication({
    userModel: userModel(database, { bus }),
    secret: "a secret of the failover, and of nothing else",
    audience: "failover",
    mailer: async () => {},
    onEvent() {},
  }),
);
const ticked = topic<number>("ticked");
app.get("/who", { auth: useAuth() }, ({ user }) => ({ name: user.displayName }));
app.post("/tick/:n", ({ path, ctx }) => ctx.pubsub.publish(ticked, Number(path.n)));
const ticks = subscription(t.int, { shared: true })(async function* ({ ctx }) {
  yield* ctx.pubsub.subscribe(ticked);
});
new Graph(schema({ query: { a: field(t.int)(() => 1) }, subscription: { ticks } }), {
  subscriptions: { connectsPerMinute: 0 },
}).mount(app);

const { port } = await app.listen({ port: settings.port });
process.on("disconnect", () => process.exit(0));
process.send?.({ port });
