import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Scene } from "./cell.ts";
import { faultEnv } from "./fault-env.ts";
import type { InnerFault } from "./inner-faults.ts";

const SERVER = new URL("fault-server.ts", import.meta.url).pathname;
const REQUEST_MS = 5_000;
/** On a busy machine, a process needs a minute. */
const START_MS = 120_000;
const SIGN_INS = 20;
const SIGN_IN_MS = 500;

/** What a client sends. @default a GET request */
interface Sent {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: FormData | string;
}

/** A response, with status 0 if there was none. */
export interface Got {
  readonly status: number;
  readonly text: string;
}

/** The application of a cell, in its own process. */
export class AppProcess {
  readonly child: ChildProcess;
  readonly #folder: string;
  readonly #exit: Promise<number | null>;
  #port = 0;
  #front = 0;

  private constructor({ settings, output, under = [], node = [] }: Scene) {
    this.#folder = mkdtempSync(join(tmpdir(), "portico-fault-"));
    const log = openSync(this.#log, "w");
    const command = [...under, process.execPath, "--no-warnings", ...node, SERVER, JSON.stringify(settings)];
    const [program = "", ...args] = command;
    this.child = spawn(program, args, { env: faultEnv(), stdio: ["ignore", output ?? log, log, "ipc"] });
    closeSync(log);
    this.#exit = once(this.child, "exit").then(([code]) => code as number | null);
  }

  /** Starts it. It has a port, or it has ended. */
  static async start(scene: Scene): Promise<AppProcess> {
    const app = new AppProcess(scene);
    const said = once(app.child, "message").then(([message]) => {
      app.#port = (message as { readonly port: number }).port;
    });
    await Promise.race([said, app.#exit, sleep(START_MS, undefined, { ref: false })]);
    if (app.isListening) app.#front = (await scene.front?.(app.#port)) ?? app.#port;
    return app;
  }

  get isListening(): boolean {
    return this.#port > 0 && this.child.exitCode === null && this.child.signalCode === null;
  }

  /** The end of its log, and what it wrote to standard error. */
  get log(): string {
    return readFileSync(this.#log, "utf8");
  }

  /** The port that clients connect to. */
  get port(): number {
    return this.#front;
  }

  /** Sends a request to the process itself, as an orchestrator does. */
  ask(path: string): Promise<Got> {
    return fetched(`http://127.0.0.1:${this.#port}${path}`, {});
  }

  /** Sends a request as a client does. */
  request(path: string, init: Sent = {}): Promise<Got> {
    return fetched(`http://127.0.0.1:${this.#front}${path}`, init);
  }

  /** Signs in, and returns the cookie of the session. A store that has just started may need a moment. */
  async signIn(name: string): Promise<string> {
    for (let attempt = 0; attempt < SIGN_INS; attempt++) {
      const response = await fetch(`http://127.0.0.1:${this.#port}/login/${name}`, { method: "POST" });
      const [cookie] = response.headers.getSetCookie().map((text) => text.split(";", 1)[0]);
      if (response.ok && cookie !== undefined) return cookie;
      await sleep(SIGN_IN_MS);
    }
    throw new Error(`${name} could not sign in`);
  }

  /** Breaks something inside of the process. */
  async breakInside(fault: InnerFault): Promise<void> {
    const done = once(this.child, "message");
    this.child.send({ fault });
    await Promise.race([done, this.#exit]);
  }

  /** Whether it ends within this time. */
  ends(patienceMs: number): Promise<boolean> {
    return Promise.race([this.#exit.then(() => true), sleep(patienceMs, false, { ref: false })]);
  }

  /** Its exit code. `null` if it runs or was killed. */
  get exitCode(): number | null {
    return this.child.exitCode;
  }

  /** Sends SIGTERM, and resolves with the milliseconds until the process has ended, or `null` if it has not. */
  async shutDown(patienceMs: number): Promise<number | null> {
    const began = performance.now();
    this.child.kill("SIGTERM");
    return (await this.ends(patienceMs)) ? performance.now() - began : null;
  }

  /** Ends it if it still runs. */
  async kill(): Promise<void> {
    this.child.kill("SIGCONT");
    this.child.kill("SIGKILL");
    await this.#exit;
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  get #log(): string {
    return join(this.#folder, "log");
  }
}

async function fetched(url: string, { headers = {}, ...init }: Sent): Promise<Got> {
  try {
    const response = await fetch(url, {
      ...init,
      signal: AbortSignal.timeout(REQUEST_MS),
      headers: { ...headers, connection: "close" },
    });
    return { status: response.status, text: await response.text() };
  } catch {
    return { status: 0, text: "" };
  }
}
