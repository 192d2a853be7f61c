import { Histogram } from "../../core/parts/histogram.ts";
import type { Figure, Part } from "../../core/parts/parts.ts";
import { unavailable } from "../../core/unavailable.ts";
import { reporting } from "../../kernel/context/reporting.ts";
import type { Permits } from "./permits.ts";

/** The connections of a pool now. */
export interface PoolCounts {
  readonly used: number;
  readonly idle: number;
  readonly max: number;
  /** The callers that wait for one. */
  readonly waiting: number;
}

/** How long a write that found no space is reported. */
const REFUSED_MS = 10_000;

/** The state of the pool of one server. It joins the parts of each application whose requests use it. */
export class PoolPart implements Part {
  /** Reads the connections; `null` while the pool has not been opened. */
  counts: () => PoolCounts | null = () => null;
  /** The transactions of the pool; `null` for a replica. */
  transactions: Permits | null = null;
  /** Writes without a change; `null` for a server that only reads. */
  probe: (() => Promise<void>) | null = null;
  isClosed = false;
  readonly #name: string;
  readonly #waits = new Histogram();
  #timeouts = 0;
  #hasWritten = false;
  #refusedAt = Number.NEGATIVE_INFINITY;

  /** @param name the server or file, without secrets */
  constructor(name: string) {
    this.#name = name;
  }

  /** A caller has obtained a connection or a transaction, or failed to. */
  waited(ms: number, isObtained: boolean): void {
    this.#waits.add(ms / 1000);
    if (!isObtained) this.#timeouts++;
    this.join();
  }

  join(): void {
    reporting()?.parts.add(this);
  }

  /** A statement that may write is sent. */
  writes(): void {
    this.#hasWritten = true;
  }

  get hasWritten(): boolean {
    return this.#hasWritten;
  }

  /** The server had no space for a write. A small probe may still find some. */
  refused(): void {
    this.#refusedAt = performance.now();
  }

  get checkWrites(): (() => Promise<void>) | undefined {
    if (!this.#hasWritten || this.probe === null) return undefined;
    return async () => {
      if (performance.now() - this.#refusedAt < REFUSED_MS) throw unavailable("The database has no space for writes");
      await this.probe?.();
    };
  }

  *figures(): Iterable<Figure> {
    const labels = [this.#name];
    const counts = this.counts();
    if (counts !== null) {
      const { used, idle, max, waiting } = counts;
      yield { series: "db_client_connection_count", labels: [...labels, "used"], value: used };
      yield { series: "db_client_connection_count", labels: [...labels, "idle"], value: idle };
      yield { series: "db_client_connection_max", labels, value: max };
      yield { series: "db_client_connection_pending_requests", labels, value: waiting };
      yield { series: "db_client_connection_wait_time_seconds", labels, value: this.#waits };
      yield { series: "db_client_connection_timeouts_total", labels, value: this.#timeouts };
    }
    if (this.transactions === null) return;
    const { count, free, waiting } = this.transactions;
    yield { series: "portico_db_transactions_open", labels, value: count - free };
    yield { series: "portico_db_transactions_max", labels, value: count };
    yield { series: "portico_db_transactions_waiting", labels, value: waiting };
  }
}
