import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** One attempt to start a server. */
export interface Starting {
  /** Ends with the attempt, if that fails. */
  readonly signal: AbortSignal;
  /** The last lines that the processes of this attempt wrote. */
  readonly log: string;
  /** A port that nothing listens on. */
  port(): Promise<number>;
  /** Starts a process, which is killed if the attempt fails. If it ends, the attempt has failed. */
  spawn(program: string, args: readonly string[], options?: SpawnOptions): Promise<ChildProcess>;
  /** Waits until it holds. */
  until(isReady: () => boolean | Promise<boolean>): Promise<void>;
  /** Runs if the attempt fails. */
  onFailure(cleanUp: () => unknown): void;
}

export interface StartOptions {
  /** Resolves when an attempt has taken too long. @default after 60 s */
  readonly limit?: (starting: Starting) => Promise<unknown>;
  /** For a server that was there before. @default fresh ports */
  readonly port?: number;
}

const ATTEMPTS = 2;
const LIMIT_MS = 60_000;
const TAIL_CHARACTERS = 2_000;

/**
 * Starts a server of a test. An attempt that is not ready within 60 s, or whose process ends, is cleaned up and repeated once,
 * with fresh ports: another process may have taken a port since it was chosen.
 *
 * @throws Error with the name of the server, its ports and the end of its log
 */
export async function startWithin<T>(
  name: string,
  start: (starting: Starting) => Promise<T>,
  options: StartOptions = {},
): Promise<T> {
  const failures: string[] = [];
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const starting = new Attempt(options);
    try {
      return await starting.run(start, options.limit);
    } catch (error) {
      await starting.fail();
      failures.push(`ports ${starting.ports.join(", ")}: ${(error as Error).message}\n${starting.log}`.trim());
    }
  }
  throw new Error(`${name} did not start, tried ${ATTEMPTS} times\n${failures.join("\n")}`);
}

class Attempt implements Starting {
  readonly ports: number[];
  readonly #fixedPort: number | undefined;
  readonly #abort = new AbortController();
  readonly #cleaning: (() => unknown)[] = [];
  readonly #ended = Promise.withResolvers<never>();
  #log = "";

  constructor({ port }: StartOptions) {
    this.#fixedPort = port;
    this.ports = port === undefined ? [] : [port];
    this.#ended.promise.catch(() => {});
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  get log(): string {
    return this.#log;
  }

  async run<T>(start: (starting: Starting) => Promise<T>, limit = patience): Promise<T> {
    const late = limit(this).then((): never => {
      throw new Error("it was not ready in time");
    });
    late.catch(() => {});
    const started = start(this);
    started.catch(() => {});
    return Promise.race([started, late, this.#ended.promise]);
  }

  async fail(): Promise<void> {
    this.#abort.abort(new Error("the attempt has ended"));
    await Promise.allSettled(this.#cleaning.map(async (cleanUp) => cleanUp()));
  }

  async port(): Promise<number> {
    if (this.#fixedPort !== undefined) return this.#fixedPort;
    const port = await freePort();
    this.ports.push(port);
    return port;
  }

  async spawn(program: string, args: readonly string[], options: SpawnOptions = {}): Promise<ChildProcess> {
    this.signal.throwIfAborted();
    const child = spawn(program, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
    this.onFailure(() => stopped(child));
    for (const stream of [child.stdout, child.stderr])
      stream?.on("data", (chunk: Buffer) => {
        this.#log = `${this.#log}${chunk.toString()}`.slice(-TAIL_CHARACTERS);
      });
    child.once("exit", (code, signal) =>
      this.#ended.reject(new Error(`${program} ended with ${code ?? signal} while it started`)),
    );
    await once(child, "spawn");
    return child;
  }

  async until(isReady: () => boolean | Promise<boolean>): Promise<void> {
    while (!(await isReady())) {
      this.signal.throwIfAborted();
      await sleep(20);
    }
  }

  onFailure(cleanUp: () => unknown): void {
    this.#cleaning.push(cleanUp);
    if (this.signal.aborted) void cleanUp();
  }
}

function patience({ signal }: Starting): Promise<unknown> {
  return sleep(LIMIT_MS, undefined, { ref: false, signal });
}

async function stopped(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  await exited;
}

/** Below the ports that systems give to outgoing connections, which would take a chosen one at any time. */
const [FIRST_PORT, PORT_COUNT] = [12_000, 20_000];
let nextPort = (process.pid * 97) % PORT_COUNT;

/** A port that nothing listens on. Processes begin at different ports, and none chooses the same one twice in a row. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST_PORT + (nextPort++ % PORT_COUNT);
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once("error", () => resolve(false)).listen(port, "127.0.0.1", () => resolve(true));
    });
    if (!isFree) continue;
    await new Promise((resolve) => server.close(resolve));
    return port;
  }
}
