/** What the bench asks of a server in its own process. */
type Order = { readonly publish: number } | { readonly stats: "memory" | "cpu" };

/** What a server says about itself. */
export interface Stats {
  /** After collection, when memory was asked for. */
  readonly rss: number;
  readonly heap: number;
  readonly cpuMicros: number;
}

/** Tells the bench where the server listens, publishes when it is told to, and says what it uses. */
export function obey(port: number, publish: (value: number) => unknown): void {
  process.on("message", (order: Order) => {
    if ("publish" in order) return void publish(order.publish);
    const { user, system } = process.cpuUsage();
    for (let n = 0; n < 3 && order.stats === "memory"; n++) globalThis.gc?.();
    const { rss, heapUsed, external } = process.memoryUsage();
    process.send?.({ stats: { rss, heap: heapUsed + external, cpuMicros: user + system } satisfies Stats });
  });
  process.on("disconnect", () => process.exit(0));
  process.send?.({ port });
}
