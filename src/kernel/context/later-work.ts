import { setTimeout as sleep } from "node:timers/promises";
import type { Figure, Part } from "../../core/parts/parts.ts";

/** The work of an application that goes on after its response, such as emails. Shutdown waits for it. */
export class LaterWork implements Part {
  readonly #unfinished = new Set<Promise<void>>();

  *figures(): Iterable<Figure> {
    yield { series: "portico_later_work", labels: [], value: this.#unfinished.size };
  }

  /** Keeps the work until it has finished. It must log its own failure. */
  add(work: Promise<void>): void {
    const kept = work.finally(() => this.#unfinished.delete(kept));
    this.#unfinished.add(kept);
  }

  /** Waits for the work that has been added, at most this long. */
  async finish(deadlineMs: number): Promise<void> {
    const cut = new AbortController();
    const deadline = sleep(deadlineMs, undefined, { signal: cut.signal }).catch(() => {});
    await Promise.race([Promise.allSettled(this.#unfinished), deadline]);
    cut.abort();
  }
}
