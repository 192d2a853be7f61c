import { field, Graph, type ObjectType, object, schema, subscription, t } from "../../../src/graphql/index.ts";
import { memoryStores, PorticoApp, topic } from "../../../src/index.ts";
import { obey } from "./obey.ts";

interface TickRow {
  readonly n: number;
  readonly title: string;
}

const tick = topic<TickRow>("tick");
const stores = memoryStores();
const Tick: ObjectType<TickRow> = object("Tick", { n: t.int, title: t.string });
const live = subscription(Tick, { shared: process.argv.includes("--shared") })(async function* ({ ctx }) {
  yield* ctx.pubsub.subscribe(tick);
});

const app = new PorticoApp({ logger: false, stores, shutdown: { signals: [] } });
// The others add no costs to their answers.
new Graph(schema({ query: { a: field(t.int)(() => 1) }, subscription: { live } }), {
  subscriptions: { connectsPerMinute: 0 },
  limits: { cost: null },
}).mount(app);

const { port } = await app.listen({ port: 0 });
obey(port, (n) => stores.bus.publish(tick, { n, title: `event ${n}` }));
