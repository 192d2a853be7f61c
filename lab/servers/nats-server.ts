import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { isListening } from "./redis-server.ts";
import { type Starting, startWithin } from "./start-within.ts";

/** The server that all tests share. A test that stops a server starts its own `NatsServer`. */
export const SHARED_NATS = "nats://127.0.0.1:4222";

/** A separate NATS on a free port, which a test can kill, pause and restart. */
export class NatsServer {
  readonly port: number;
  readonly #options: readonly string[];
  #process: ChildProcess | null = null;

  private constructor(port: number, options: readonly string[]) {
    this.port = port;
    this.#options = options;
  }

  static async start(options: readonly string[] = []): Promise<NatsServer> {
    return startWithin("A NATS", async (starting) => {
      const server = new NatsServer(await starting.port(), options);
      await server.#start(starting);
      return server;
    });
  }

  get url(): string {
    return `nats://127.0.0.1:${this.port}`;
  }

  /** Starts it again, and waits until it takes connections. */
  async start(): Promise<void> {
    await startWithin("A NATS", (starting) => this.#start(starting), { port: this.port });
  }

  async #start(starting: Starting): Promise<void> {
    const args = ["-a", "127.0.0.1", "-p", String(this.port), ...this.#options];
    const child = await starting.spawn("nats-server", args);
    await starting.until(() => starting.log.includes("Server is ready"));
    await starting.until(() => isListening(this.port));
    this.#process = child;
  }

  /** Reads its configuration file again. */
  reload(): void {
    this.#process?.kill("SIGHUP");
  }

  async kill(): Promise<void> {
    const child = this.#process;
    this.#process = null;
    if (child === null) return;
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
  }

  /** It keeps nothing. */
  async remove(): Promise<void> {
    await this.kill();
  }

  /** Pauses it: connections stay open, but it does not respond. */
  freeze(): void {
    this.#process?.kill("SIGSTOP");
  }

  thaw(): void {
    this.#process?.kill("SIGCONT");
  }
}
