import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort, isListening } from "../redis/redis-server.ts";

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
    const server = new NatsServer(await freePort(), options);
    await server.start();
    return server;
  }

  get url(): string {
    return `nats://127.0.0.1:${this.port}`;
  }

  /** Starts it again, and waits until it takes connections. */
  async start(): Promise<void> {
    const args = ["-a", "127.0.0.1", "-p", String(this.port), ...this.#options];
    this.#process = spawn("nats-server", args, { stdio: "ignore" });
    await once(this.#process, "spawn");
    while (!(await isListening(this.port))) await sleep(10);
  }

  async kill(): Promise<void> {
    const child = this.#process;
    this.#process = null;
    if (child === null) return;
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
  }

  /** Pauses it: connections stay open, but it does not respond. */
  freeze(): void {
    this.#process?.kill("SIGSTOP");
  }

  thaw(): void {
    this.#process?.kill("SIGCONT");
  }
}
