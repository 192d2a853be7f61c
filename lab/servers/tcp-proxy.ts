import { connect, createServer, type Server, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** What happens to bytes in both directions. */
export interface Line {
  /** How long each chunk is held back. */
  readonly delayMs?: number;
  /** The bandwidth of each connection and direction. */
  readonly bytesPerSecond?: number;
}

const HOST = "127.0.0.1";
/** A throttled connection sends this often. */
const SLICE_MS = 50;

/** The end of a line that receives bytes. */
export type End = "client" | "server";

/** A TCP proxy in front of a server on this machine that delays, throttles, drops, garbles, refuses, half-closes and resets. */
export class TcpProxy {
  readonly #server: Server;
  readonly #pairs = new Set<Pair>();
  #line: Line = {};
  #isSilent = false;
  #isFrozen = false;
  #isRefusing = false;
  #garbled: End | null = null;
  #targetPort: number;

  private constructor(targetPort: number) {
    this.#targetPort = targetPort;
    this.#server = createServer({ allowHalfOpen: true, noDelay: true }, (near) => {
      if (this.#isRefusing) return void near.on("error", () => {}).resetAndDestroy();
      const far = connect({ port: this.#targetPort, host: HOST, allowHalfOpen: true, noDelay: true });
      const pair = new Pair(near, far, { line: () => this.#line, garbled: () => this.#garbled });
      if (this.#isSilent) pair.silence();
      if (this.#isFrozen) pair.freeze();
      this.#pairs.add(pair);
      void pair.closed.then(() => this.#pairs.delete(pair));
    });
  }

  static async start(targetPort: number): Promise<TcpProxy> {
    const proxy = new TcpProxy(targetPort);
    await new Promise<void>((resolve, reject) => {
      proxy.#server.once("error", reject).listen(0, HOST, resolve);
    });
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as { readonly port: number }).port;
  }

  /** `url` with the address of the proxy in place of the server's. */
  through(url: string): string {
    return Object.assign(new URL(url), { host: `${HOST}:${this.port}` }).href;
  }

  /** Applies to bytes that arrive from now on, on open connections too. */
  shape(line: Line): void {
    this.#line = line;
  }

  /** Drops all bytes. Nothing tells either side: open connections stay open, and new ones are accepted. */
  silence(): void {
    this.#isSilent = true;
    for (const pair of this.#pairs) pair.silence();
  }

  /** Reads nothing any more, as a stopped process does: the system still accepts connections for it. */
  freeze(): void {
    this.#isFrozen = true;
    for (const pair of this.#pairs) pair.freeze();
  }

  /** New connections work again. Those that lost bytes stay silent for the client, and the server sees them close. */
  endSilence(): void {
    this.#isSilent = false;
    for (const pair of this.#pairs) pair.abandon();
  }

  /** Resets every connection, and each new one before it reaches the server. */
  refuse(): void {
    this.#isRefusing = true;
    this.reset();
  }

  endRefusal(): void {
    this.#isRefusing = false;
  }

  /** Replaces all bytes to one end, on open connections too. Their number stays the same. `null` ends that. */
  garble(to: End | null): void {
    this.#garbled = to;
  }

  /** The most connections at a time. Each further one is closed. */
  limit(connections: number): void {
    this.#server.maxConnections = connections;
  }

  /** Ends the direction to the client of every open connection. Bytes to the server still arrive. */
  halfClose(): void {
    for (const pair of this.#pairs) pair.halfClose();
  }

  /** Leads to another server from now on, and resets every connection to the one before. */
  redirect(targetPort: number): void {
    this.#targetPort = targetPort;
    this.reset();
  }

  /** Resets every open connection. */
  reset(): void {
    for (const pair of this.#pairs) pair.reset();
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    for (const pair of this.#pairs) pair.destroy();
    await closed;
  }
}

/** How the proxy treats bytes at this moment. */
interface Treatment {
  readonly line: () => Line;
  readonly garbled: () => End | null;
}

/** A client's connection and the one to the server that belongs to it. */
class Pair {
  readonly #near: Socket;
  readonly #far: Socket;
  readonly #treatment: Treatment;
  /** Resolves when both are closed. */
  readonly closed: Promise<unknown>;
  #isSilent = false;

  constructor(near: Socket, far: Socket, treatment: Treatment) {
    this.#near = near;
    this.#far = far;
    this.#treatment = treatment;
    this.closed = Promise.all([near, far].map((socket) => new Promise((resolve) => socket.once("close", resolve))));
    this.#forward(near, far);
    this.#forward(far, near);
  }

  silence(): void {
    this.#isSilent = true;
  }

  freeze(): void {
    this.#near.pause();
    this.#far.pause();
  }

  abandon(): void {
    if (this.#isSilent) this.#far.destroy();
  }

  halfClose(): void {
    this.#near.end();
  }

  reset(): void {
    this.#near.resetAndDestroy();
    this.#far.destroy();
  }

  destroy(): void {
    this.#near.destroy();
    this.#far.destroy();
  }

  /** Chunks wait in memory, in their order. There is no backpressure: the requests of a run are small. */
  #forward(from: Socket, to: Socket): void {
    let last = Promise.resolve();
    const queue = (step: () => Promise<void> | void): void => {
      last = last.then(() => (this.#isSilent ? undefined : step()));
    };
    from.on("data", (chunk: Buffer) => {
      const arrivedAt = performance.now();
      const line = this.#treatment.line();
      const end = to === this.#near ? "client" : "server";
      const bytes = this.#treatment.garbled() === end ? garbage(chunk.length) : chunk;
      queue(() => this.#pass(bytes, to, line, arrivedAt));
    });
    from.on("end", () => queue(() => void to.end()));
    from.on("error", () => {});
    from.on("close", () => queue(() => void (from.errored === null ? to.destroySoon() : to.destroy())));
  }

  async #pass(chunk: Buffer, to: Socket, { delayMs = 0, bytesPerSecond }: Line, arrivedAt: number): Promise<void> {
    const waitMs = arrivedAt + delayMs - performance.now();
    if (waitMs > 0) await sleep(waitMs);
    const slice = bytesPerSecond === undefined ? chunk.length : Math.ceil((bytesPerSecond * SLICE_MS) / 1_000);
    for (let start = 0; start < chunk.length; start += slice) {
      if (bytesPerSecond !== undefined) await sleep(SLICE_MS);
      if (this.#isSilent || !to.writable) return;
      to.write(chunk.subarray(start, start + slice));
    }
  }
}

/** Bytes that no protocol begins with, always the same. */
function garbage(length: number): Buffer {
  return Buffer.from(Array.from({ length }, (_, n) => (n * 167 + 29) % 256));
}
