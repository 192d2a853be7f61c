import { field, Graph, schema, subscription, t } from "../../../src/graphql/index.ts";
import { Depend, memoryStores, PorticoApp, topic } from "../../../src/index.ts";
import type { MemoryPubSub } from "../../../src/stores/memory-pub-sub.ts";

/** What a server holds. */
export interface Held {
  readonly generators: number;
  readonly dependencies: number;
  readonly topics: number;
  readonly timers: number;
  readonly sockets: number;
  /** After collection. */
  readonly heap: number;
  readonly rss: number;
}

const tick = topic<number>("tick");
const stores = memoryStores();
const open = { generators: 0, dependencies: 0 };
const pool = async function* (): AsyncGenerator<number, void, void> {
  open.dependencies++;
  try {
    yield 1;
  } finally {
    open.dependencies--;
  }
};
const live = subscription(t.int, { params: { pool: Depend(pool) } })(async function* ({ ctx, pool: one }) {
  open.generators++;
  try {
    yield 0;
    for await (const n of ctx.pubsub.subscribe(tick)) yield n * one;
  } finally {
    open.generators--;
  }
});
const app = new PorticoApp({ logger: false, stores, shutdown: { signals: [] } });
new Graph(schema({ query: { a: field(t.int)(() => 1) }, subscription: { live } }), {
  subscriptions: { connectsPerMinute: 0 },
}).mount(app);
const { port } = await app.listen({ port: 0 });

process.on("message", () => {
  for (let n = 0; n < 4; n++) globalThis.gc?.();
  const { heapUsed, external, rss } = process.memoryUsage();
  const resources = process.getActiveResourcesInfo();
  const held: Held = {
    ...open,
    topics: (stores.bus as MemoryPubSub).topicCount,
    timers: resources.filter((name) => name === "Timeout").length,
    sockets: resources.filter((name) => name === "TCPSocketWrap").length,
    heap: heapUsed + external,
    rss,
  };
  process.send?.({ held });
});
process.on("disconnect", () => process.exit(0));
process.send?.({ port });
