import { connect, type Socket } from "node:net";
import { monitorEventLoopDelay } from "node:perf_hooks";
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
  /** How many responses with 200 arrived in each second. */
  readonly perSecond: readonly number[];
  /** How late 99 of 100 timers of the clients were at most: they share a machine with the server, and must not lack a core. */
  readonly clientDelayMs: number;
}

const TIMEOUT_MS = 3_000;
const ADDRESSES = 20;

interface Connection {
  readonly socket: Socket;
  finish: ((outcome: string, head: string) => void) | null;
}

/** Sends requests over kept connections, and counts what becomes of them. */
export class Client {
  readonly #port: number;
  readonly #request: () => string;
  readonly #patienceMs: number;
  readonly #idle: Connection[] = [];
  #opened = 0;

  constructor(port: number, request: () => string, patienceMs: number = TIMEOUT_MS) {
    this.#port = port;
    this.#request = request;
    this.#patienceMs = patienceMs;
  }

  static get(port: number, path: string, patienceMs: number = TIMEOUT_MS): Client {
    const text = requestText("GET", path);
    return new Client(port, () => text, patienceMs);
  }

  static post(port: number, path: string, body: object): Client {
    const text = requestText("POST", path, {}, body);
    return new Client(port, () => text);
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
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      connection.socket.destroy();
    }, this.#patienceMs);
    connection.finish = (outcome, head) => {
      clearTimeout(timer);
      connection.finish = null;
      const ms = performance.now() - began;
      count.add(isLate ? "timeout" : outcome, ms, head);
      resolve();
    };
    connection.socket.write(this.#request());
    return promise;
  }

  #open(): Connection {
    // A rejected request closes its connection, whose port is then blocked for a minute. One address has 28,000 ports.
    const localAddress = `127.0.0.${1 + (this.#opened++ % ADDRESSES)}`;
    const socket = connect({ port: this.#port, host: "127.0.0.1", localAddress }).setNoDelay();
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

/** A request as it is sent; an object is its JSON body. */
export function requestText(
  method: string,
  path: string,
  headers: Readonly<Record<string, string>> = {},
  body?: object,
): string {
  const text = body === undefined ? "" : JSON.stringify(body);
  const content = { "Content-Type": "application/json", "Content-Length": String(Buffer.byteLength(text)) };
  const lines = Object.entries({ Host: "localhost", ...(body === undefined ? {} : content), ...headers });
  return `${method} ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n${text}`;
}

class Count {
  readonly #times: number[] = [];
  readonly #outcomes: Record<string, number> = {};
  readonly #began = performance.now();
  readonly #delay = monitorEventLoopDelay({ resolution: 10 });
  readonly #perSecond: number[] = [];
  #withoutRetryAfter = 0;

  constructor() {
    this.#delay.enable();
  }

  add(outcome: string, ms: number, head: string): void {
    this.#outcomes[outcome] = (this.#outcomes[outcome] ?? 0) + 1;
    if (outcome === "200") {
      this.#times.push(ms);
      const second = Math.floor((performance.now() - this.#began) / 1_000);
      this.#perSecond[second] = (this.#perSecond[second] ?? 0) + 1;
    }
    if (outcome === "503" && !/retry-after: \d/i.test(head)) this.#withoutRetryAfter++;
  }

  traffic(seconds: number): Traffic {
    this.#delay.disable();
    const times = this.#times.toSorted((a, b) => a - b);
    const percentile = (share: number): number => times[Math.floor(times.length * share)] ?? Number.NaN;
    return {
      goodput: times.length / seconds,
      p90Ms: percentile(0.9),
      p99Ms: percentile(0.99),
      outcomes: this.#outcomes,
      withoutRetryAfter: this.#withoutRetryAfter,
      perSecond: Array.from({ length: seconds }, (_, second) => this.#perSecond[second] ?? 0),
      clientDelayMs: this.#delay.percentile(99) / 1e6,
    };
  }
}
