import { connect, createServer, type Server, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

const HOST = "127.0.0.1";
const PROBE_MS = 200;

/**
 * A TCP load balancer: each new connection goes to the next server whose readiness check succeeds, and stays there. It never
 * looks into a connection, so only the servers can make keep-alive connections move on.
 */
export class Balancer {
  readonly #server: Server;
  readonly #ready = new Map<number, boolean>();
  readonly #sockets = new Set<Socket>();
  #turn = 0;
  #isClosed = false;

  private constructor() {
    this.#server = createServer({ noDelay: true, allowHalfOpen: true }, (near) => this.#forward(near));
  }

  static async start(): Promise<Balancer> {
    const balancer = new Balancer();
    await new Promise<void>((resolve, reject) => {
      balancer.#server.once("error", reject).listen(0, HOST, resolve);
    });
    return balancer;
  }

  get url(): string {
    return `http://${HOST}:${(this.#server.address() as { readonly port: number }).port}`;
  }

  /** Adds a server, and resolves when it is ready. Its readiness is followed until it is removed. */
  async add(port: number): Promise<void> {
    this.#ready.set(port, false);
    void this.#follow(port);
    while (this.#ready.get(port) !== true) await sleep(PROBE_MS);
  }

  remove(port: number): void {
    this.#ready.delete(port);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const closed = new Promise((resolve) => this.#server.close(resolve));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  async #follow(port: number): Promise<void> {
    while (this.#ready.has(port) && !this.#isClosed) {
      const isReady = await fetch(`http://${HOST}:${port}/readyz`, { headers: { connection: "close" } }).then(
        ({ ok }) => ok,
        () => false,
      );
      if (this.#ready.has(port)) this.#ready.set(port, isReady);
      await sleep(PROBE_MS);
    }
  }

  #forward(near: Socket): void {
    const ports = [...this.#ready].filter(([, isReady]) => isReady).map(([port]) => port);
    const port = ports[this.#turn++ % ports.length];
    if (port === undefined) return void near.destroy();
    const far = connect({ port, host: HOST, noDelay: true, allowHalfOpen: true });
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#sockets.add(from);
      from.pipe(to);
      from.on("error", () => to.destroy());
      from.on("close", () => {
        this.#sockets.delete(from);
        to.destroySoon();
      });
    }
  }
}
