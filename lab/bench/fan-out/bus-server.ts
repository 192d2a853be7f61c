import { field, Graph, schema, subscription, t } from "../../../src/graphql/index.ts";
import { memoryStores, PorticoApp, type PubSub, topic } from "../../../src/index.ts";
import { NatsPubSub } from "../../../src/nats/index.ts";
import { redisStores } from "../../../src/redis/index.ts";
import { openDatabase, sqlStores } from "../../../src/sql/index.ts";
import { obey } from "../sockets/obey.ts";

/** The buses that events can take. */
const BUSES: Readonly<Record<string, () => PubSub>> = {
  memory: () => memoryStores().bus,
  Redis: () => redisStores("redis://127.0.0.1:6379").bus,
  NATS: () => new NatsPubSub("nats://127.0.0.1:4222"),
  PostgreSQL: () => sqlStores(openDatabase("postgres://root@127.0.0.1:5432/test")).bus,
};

const bus = BUSES[process.argv[2] ?? ""]?.();
if (bus === undefined) throw new RangeError(`there is no bus ${process.argv[2]}`);
// Others use the same servers.
const published = topic<number>(`published-${process.pid}`);
const live = subscription(t.float, { shared: process.argv.includes("--shared") })(async function* ({ ctx }) {
  yield* ctx.pubsub.subscribe(published);
});
const app = new PorticoApp({
  logger: false,
  stores: { ...memoryStores(), bus },
  load: { maxWaitMs: 600_000, maxEventLoopDelayMs: 600_000 },
  shutdown: { signals: [] },
});
new Graph(schema({ query: { a: field(t.int)(() => 1) }, subscription: { live } }), {
  subscriptions: { connectsPerMinute: 0 },
}).mount(app);

const { port } = await app.listen({ port: 0 });
// An event is the time at which it was published.
obey(port, () => bus.publish(published, performance.timeOrigin + performance.now()));
