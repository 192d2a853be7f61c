import { subscribe } from "node:diagnostics_channel";
import { field, Graph, schema, subscription, t } from "../../../src/graphql/index.ts";
import { memoryStores, PorticoApp, topic } from "../../../src/index.ts";

/** How a server of the bench is started. */
export interface DrainServerSettings {
  readonly socketSeconds: number;
}

/** What a server says about itself. */
export interface DrainFigures {
  /** After collection, when memory was asked for. */
  readonly rss: number;
  readonly cpuMicros: number;
  /** Subscriptions that are open. */
  readonly subscribed: number;
  /** Accepted connections in each tenth of a second since the first one. */
  readonly arrivals: readonly number[];
}

const SLICE_MS = 100;
const { socketSeconds } = JSON.parse(process.argv[2] ?? "") as DrainServerSettings;
const tick = topic<number>("tick");
const arrivals: number[] = [];
let [firstAt, subscribed] = [0, 0];
subscribe("net.server.socket", () => {
  firstAt ||= performance.now();
  const slice = Math.floor((performance.now() - firstAt) / SLICE_MS);
  arrivals[slice] = (arrivals[slice] ?? 0) + 1;
});

const live = subscription(t.int)(async function* ({ ctx }) {
  subscribed++;
  try {
    yield* ctx.pubsub.subscribe(tick);
  } finally {
    subscribed--;
  }
});
const app = new PorticoApp({
  logger: false,
  stores: memoryStores(),
  // The clients share the machine, so nothing is rejected because of them.
  load: { maxWaitMs: 600_000, maxEventLoopDelayMs: 600_000, maxInFlight: 100_000 },
  shutdown: { delaySeconds: 0, socketSeconds, deadlineSeconds: socketSeconds + 60 },
});
new Graph(schema({ query: { a: field(t.int)(() => 1) }, subscription: { live } }), {
  // All clients have the same few addresses.
  subscriptions: { connectsPerMinute: 0 },
}).mount(app);
// The channel would keep the process alive.
app.onClose(() => process.connected && process.disconnect());
process.on("disconnect", () => void app.close());

const { port } = await app.listen({ port: 0, host: "0.0.0.0" });
process.on("message", ({ tell }: { readonly tell: "memory" | "counts" }) => {
  if (tell === "memory") for (let n = 0; n < 3; n++) globalThis.gc?.();
  const { user, system } = process.cpuUsage();
  const figures: DrainFigures = {
    rss: process.memoryUsage.rss(),
    cpuMicros: user + system,
    subscribed,
    arrivals: Array.from(arrivals, (count) => count ?? 0),
  };
  process.send?.({ figures });
});
process.send?.({ port });
