import type { Stats } from "./stats.ts";

/** What the bench asks of a server in its own process. */
type Order = { readonly publish: number } | { readonly burst: number } | { readonly stats: "memory" | "cpu" };

/** Tells the bench where the server listens, publishes when it is told to, and says what it uses. */
export function obey(port: number, publish: (value: number) => unknown): void {
  let rounds = new Rounds();
  process.on("message", (order: Order) => {
    if ("publish" in order) return void publish(order.publish);
    if ("burst" in order) {
      rounds.stop();
      rounds = new Rounds();
      rounds.watch();
      for (let n = 0; n < order.burst; n++) publish(n);
      return;
    }
    const { user, system } = process.cpuUsage();
    for (let n = 0; n < 3 && order.stats === "memory"; n++) globalThis.gc?.();
    const { rss, heapUsed, external } = process.memoryUsage();
    process.send?.({
      stats: { rss, heap: heapUsed + external, cpuMicros: user + system, longestRound: rounds.longest } satisfies Stats,
    });
  });
  process.on("disconnect", () => process.exit(0));
  process.send?.({ port });
}

/** Watches how long the event loop is held by one round. CPU time says so on a busy machine, too. */
class Rounds {
  readonly longest: { ms: number; cpuMs: number } = { ms: 0, cpuMs: 0 };
  #isStopped = false;
  #last = { ms: performance.now(), cpu: process.cpuUsage() };

  watch(): void {
    if (this.#isStopped) return;
    const { user, system } = process.cpuUsage(this.#last.cpu);
    this.longest.ms = Math.max(this.longest.ms, performance.now() - this.#last.ms);
    this.longest.cpuMs = Math.max(this.longest.cpuMs, (user + system) / 1000);
    this.#last = { ms: performance.now(), cpu: process.cpuUsage() };
    setTimeout(() => this.watch(), 1);
  }

  stop(): void {
    this.#isStopped = true;
  }
}
