import { type ChildProcess, fork } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";

/** A process of the run, which answers what it is asked. */
export class Child {
  readonly #process: ChildProcess;
  readonly #exit: Promise<number>;
  /** The end of the process and of its messages. The last of them may arrive after the exit. */
  readonly #end: Promise<number>;

  constructor(file: URL, settings: object, execArgv: readonly string[] = [], env: NodeJS.ProcessEnv = {}) {
    this.#process = fork(file, [JSON.stringify(settings)], {
      execArgv: [...execArgv],
      env: { ...process.env, ...env },
    });
    this.#exit = new Promise((resolve) => this.#process.once("exit", (code) => resolve(code ?? 1)));
    const disconnected = new Promise((resolve) => this.#process.once("disconnect", resolve));
    this.#end = disconnected.then(() => this.#exit);
  }

  ask<T>(key: string, order: object): Promise<T> {
    // A process that has just ended closes the channel first; what it is asked then is rejected by its end.
    this.#process.send(order, () => undefined);
    return this.hear<T>(key);
  }

  /** The next message that has this key; rejects when the process ends without one. */
  hear<T>(key: string): Promise<T> {
    return new Promise((resolve, reject) => {
      const listen = (message: Readonly<Record<string, unknown>>): void => {
        if (!(key in message)) return;
        this.#process.off("message", listen);
        resolve(message[key] as T);
      };
      this.#process.on("message", listen);
      void this.#end.then((code) => reject(new Error(`a process ended with ${code} before it said ${key}`)));
    });
  }

  get pid(): number {
    return this.#process.pid as number;
  }

  /** Whether it still runs. */
  get isAlive(): boolean {
    return this.#process.exitCode === null && this.#process.signalCode === null;
  }

  /** What it ends with by itself; `null` when it does not, and is killed. */
  async ended(patienceMs: number): Promise<number | null> {
    const code = await Promise.race([this.#exit, sleep(patienceMs, null, { ref: false })]);
    this.kill();
    return code;
  }

  kill(): void {
    this.signal("SIGKILL");
  }

  signal(signal: NodeJS.Signals): void {
    this.#process.kill(signal);
  }
}
