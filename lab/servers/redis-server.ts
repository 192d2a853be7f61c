import type { ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Starting, startWithin } from "./start-within.ts";

/** The server that all tests share. A test that stops or changes a server starts its own `RedisServer`. */
export const SHARED_URL: string = process.env["REDIS_URL"] ?? "redis://127.0.0.1:6379";

/** The program of a server. Valkey takes the same options. */
const PROGRAM = process.env["PORTICO_REDIS_SERVER"] ?? "redis-server";

const READY = /Ready to accept connections|Sentinel ID is/;

/** A unique key prefix. */
export function newPrefix(): string {
  return `portico-test-${randomUUID()}`;
}

/** A separate Redis on a free port, which a test can kill, pause and restart. */
export class RedisServer {
  readonly port: number;
  readonly #directory: string;
  readonly #options: readonly string[];
  #process: ChildProcess | null = null;

  private constructor(port: number, directory: string, options: readonly string[]) {
    this.port = port;
    this.#directory = directory;
    this.#options = options;
  }

  /**
   * Starts one, with options of the command line: `["--appendonly", "yes"]`.
   *
   * @param sentinel the configuration of a Sentinel, if it is to be one
   */
  static async start(options: readonly string[] = [], sentinel?: string): Promise<RedisServer> {
    const directory = await mkdtemp(join(tmpdir(), "portico-redis-"));
    const file = join(directory, "sentinel.conf");
    if (sentinel !== undefined) await writeFile(file, sentinel);
    const all = sentinel === undefined ? ["--save", "", ...options] : ["--sentinel", ...options];
    return startWithin("A Redis", async (starting) => {
      const server = new RedisServer(await starting.port(), directory, sentinel === undefined ? all : [file, ...all]);
      await server.#start(starting);
      return server;
    });
  }

  get isRunning(): boolean {
    return this.#process !== null;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /** Starts it again, and waits until it takes connections. */
  async start(): Promise<void> {
    await startWithin("A Redis", (starting) => this.#start(starting), { port: this.port });
  }

  async #start(starting: Starting): Promise<void> {
    const [first = "", ...others] = this.#options;
    const args = ["--port", String(this.port), "--bind", "127.0.0.1", "--dir", this.#directory];
    // A configuration file is the first argument.
    const given = first.startsWith("--") ? [...args, first, ...others] : [first, ...args, ...others];
    const child = await starting.spawn(PROGRAM, given);
    // Another process may listen on the port: only the log is certainly that of this one.
    await starting.until(() => READY.test(starting.log));
    await starting.until(() => isListening(this.port));
    this.#process = child;
  }

  /** Kills it, as a crash would. */
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

  async remove(): Promise<void> {
    await this.kill();
    await rm(this.#directory, { recursive: true, force: true });
  }
}

/** Whether something takes connections there. */
export async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
