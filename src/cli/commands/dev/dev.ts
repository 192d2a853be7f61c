import { existsSync, readFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { parseEnv } from "node:util";
import { UsageError } from "../../output/command-failed.ts";
import { hasColors } from "../../output/paint.ts";
import type { Result } from "../../output/result.ts";
import { compileCache } from "../../process/compile-cache.ts";
import type { Call } from "../runner.ts";
import { Changes } from "./changes.ts";
import { type DevOutput, devOutput } from "./dev-output.ts";
import { ServerProcess } from "./server-process.ts";

export interface DevFlags {
  readonly watch: readonly string[];
}

/** Runs the server until a signal ends it, and starts it again after every change. A server that fails waits for one. */
export async function dev({ words, options, cwd, env, print, printError, width }: Call<DevFlags>): Promise<Result> {
  const entry = entryOf(words[0], cwd);
  const changes = new Changes(options.watch.length === 0 ? [cwd] : options.watch.map((name) => resolve(cwd, name)));
  const stop = stopSignal();
  const isColored = hasColors(width, env);
  const output = devOutput({ entry, print, printError, isJson: options.json === true, isColored });
  const envFile = new EnvFile(cwd, env);
  const defaults = {
    NODE_ENV: "development",
    NODE_COMPILE_CACHE: compileCache(cwd),
    // The server writes into a pipe.
    ...(isColored ? { FORCE_COLOR: "1" } : {}),
  };
  try {
    for (let cause: string | null = null; !stop.signal.aborted; ) {
      const serverEnv = { ...defaults, ...envFile.variables() };
      cause = await runOnce(entry, cause, { cwd, env: serverEnv, changes, stop: stop.signal, output });
    }
  } finally {
    changes.close();
    stop.dispose();
  }
  return { data: undefined, lines: [] };
}

interface Around {
  readonly cwd: string;
  readonly env: Call<object>["env"];
  readonly changes: Changes;
  readonly stop: AbortSignal;
  readonly output: DevOutput;
}

/** Runs the server once. Returns the file whose change ended it, or `null` if a signal did. */
async function runOnce(entry: string, cause: string | null, around: Around): Promise<string | null> {
  const { cwd, changes, stop, output } = around;
  // The process that starts now reads all changes until now.
  changes.forget();
  const startedAt = performance.now();
  const server = new ServerProcess(entry, around, {
    line: (text) => output.line(text),
    errorLine: (text) => output.errorLine(text),
    listening: (report) => output.listening(report, { cause, tookMs: Math.round(performance.now() - startedAt) }),
  });
  const changed = changes.next().then((file) => relative(cwd, file));
  const stopped = aborted(stop);
  const first = await Promise.race([changed, stopped, server.ended]);
  if (typeof first === "object" && first !== null) {
    output.ended(first);
    return Promise.race([changed, stopped]);
  }
  if (first === null) output.stopping();
  // A restart must not wait long for open connections. At the end, the server takes the time that it needs.
  await server.end(first === null ? null : RESTART_GRACE_MS);
  return first;
}

const RESTART_GRACE_MS = 600;
const ENTRIES = ["src/server.ts", "server.ts", "src/server.js", "server.js"];

function entryOf(given: string | undefined, cwd: string): string {
  const entry = given ?? ENTRIES.find((name) => existsSync(resolve(cwd, name)));
  if (entry === undefined) throw new UsageError(`no server to start: pass its file, or create ${ENTRIES[0]}`);
  if (!existsSync(resolve(cwd, entry))) throw new UsageError(`${entry} does not exist`);
  return entry;
}

/** Aborted by the first signal. A second one ends this process, and the server with it. */
function stopSignal(): { readonly signal: AbortSignal; dispose(): void } {
  const controller = new AbortController();
  const stop = (): void => {
    if (controller.signal.aborted) process.exit(1);
    controller.abort();
  };
  for (const name of SIGNALS) process.on(name, stop);
  return {
    signal: controller.signal,
    dispose: () => {
      for (const name of SIGNALS) process.off(name, stop);
    },
  };
}

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

function aborted(signal: AbortSignal): Promise<null> {
  if (signal.aborted) return Promise.resolve(null);
  return new Promise((done) => signal.addEventListener("abort", () => done(null), { once: true }));
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The `.env` of a directory. The command has loaded it once, at its start. A server that starts later gets the variables as
 * the file has them then. Variables of the shell keep their values.
 */
class EnvFile {
  readonly #file: string;
  readonly #shell: Environment;

  /** @param env the variables of the command, including those of the file */
  constructor(directory: string, env: Environment) {
    this.#file = join(directory, ".env");
    const loaded = this.#read();
    this.#shell = Object.fromEntries(Object.entries(env).filter(([name, value]) => value !== loaded[name]));
  }

  /** The variables for a server that starts now. */
  variables(): Environment {
    return { ...this.#read(), ...this.#shell };
  }

  #read(): Environment {
    return existsSync(this.#file) ? parseEnv(readFileSync(this.#file, "utf8")) : {};
  }
}
