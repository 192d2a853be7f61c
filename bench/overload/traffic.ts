import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** Requests of one stretch of time. */
export interface Traffic {
  /** Responses with 200 per second. */
  readonly goodput: number;
  /** How long nine out of ten, and ninety-nine out of a hundred, of them took. */
  readonly p90Ms: number;
  readonly p99Ms: number;
  /** How many had which outcome: a status, "timeout" or "closed". */
  readonly outcomes: Readonly<Record<string, number>>;
  /** Refusals without `Retry-After`. */
  readonly withoutRetryAfter: number;
}

const TIMEOUT_MS = 3_000;

interface Connection {
  readonly socket: Socket;
  finish: ((outcome: string, head: string) => void) | null;
}

/** Sends requests over kept connections, and counts what becomes of them. */
export class Client {
  readonly #port: number;
  readonly #request: string;
  readonly #idle: Connection[] = [];

  constructor(port: number, path: string) {
    this.#port = port;
    this.#request = `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
  }

  /** As many at once as it says, each after the last: as much as the server can do. */
  async closedLoop(seconds: number, atOnce: number): Promise<Traffic> {
    const count = new Count();
    const end = performance.now() + seconds * 1000;
    await Promise.all(
      Array.from({ length: atOnce }, async () => {
        while (performance.now() < end) await this.#send(count);
      }),
    );
    return count.traffic(seconds);
  }

  /** So many per second, whatever becomes of them: as clients that do not know of each other. */
  async openLoop(seconds: number, perSecond: number): Promise<Traffic> {
    const count = new Count();
    const began = performance.now();
    const sending: Promise<void>[] = [];
    for (let elapsed = 0; elapsed < seconds * 1000; elapsed = performance.now() - began) {
      const due = Math.floor((elapsed / 1000) * perSecond);
      while (sending.length < due) sending.push(this.#send(count));
      await sleep(4);
    }
    await Promise.all(sending);
    return count.traffic(seconds);
  }

  close(): void {
    for (const { socket } of this.#idle) socket.destroy();
  }

  #send(count: Count): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const connection = this.#idle.pop() ?? this.#open();
    const began = performance.now();
    const timer = setTimeout(() => connection.socket.destroy(), TIMEOUT_MS);
    connection.finish = (outcome, head) => {
      clearTimeout(timer);
      connection.finish = null;
      const ms = performance.now() - began;
      count.add(ms >= TIMEOUT_MS ? "timeout" : outcome, ms, head);
      resolve();
    };
    connection.socket.write(this.#request);
    return promise;
  }

  #open(): Connection {
    const socket = connect(this.#port, "127.0.0.1").setNoDelay();
    const connection: Connection = { socket, finish: null };
    let text = "";
    socket.on("data", (chunk) => {
      text += chunk.toString("latin1");
      const end = text.indexOf("\r\n\r\n");
      const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0);
      if (end < 0 || text.length < end + 4 + length) return;
      const head = text.slice(0, end);
      text = "";
      if (!/connection: close/i.test(head)) this.#idle.push(connection);
      connection.finish?.(head.slice(9, 12), head);
    });
    socket.on("error", () => {});
    socket.on("close", () => {
      const place = this.#idle.indexOf(connection);
      if (place >= 0) this.#idle.splice(place, 1);
      connection.finish?.("closed", "");
    });
    return connection;
  }
}

class Count {
  readonly #times: number[] = [];
  readonly #outcomes: Record<string, number> = {};
  #withoutRetryAfter = 0;

  add(outcome: string, ms: number, head: string): void {
    this.#outcomes[outcome] = (this.#outcomes[outcome] ?? 0) + 1;
    if (outcome === "200") this.#times.push(ms);
    if (outcome === "503" && !/retry-after: \d/i.test(head)) this.#withoutRetryAfter++;
  }

  traffic(seconds: number): Traffic {
    const times = this.#times.toSorted((a, b) => a - b);
    const percentile = (share: number): number => times[Math.floor(times.length * share)] ?? Number.NaN;
    return {
      goodput: times.length / seconds,
      p90Ms: percentile(0.9),
      p99Ms: percentile(0.99),
      outcomes: this.#outcomes,
      withoutRetryAfter: this.#withoutRetryAfter,
    };
  }
}
