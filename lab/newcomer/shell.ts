import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";

/** The variables of the newcomer's terminal: none of npm's, which would tell the commands that npm runs this script. */
export function terminal(added: Readonly<Record<string, string>> = {}): Record<string, string | undefined> {
  const own = Object.entries(process.env).filter(([name]) => !/^(?:npm_|NODE_ENV$|CI$)/i.test(name));
  return { ...Object.fromEntries(own), ...added };
}

export type Environment = ReturnType<typeof terminal>;

/** Runs a command to its end. Rejects with its output if it fails. */
export async function run(cwd: string, env: Environment, command: string, ...args: readonly string[]): Promise<string> {
  const started = new Started(cwd, env, command, args);
  const code = await started.ended;
  if (code !== 0) throw new Error(`${command} ${args.join(" ")} ended with ${code}:\n${started.output}`);
  return started.output;
}

/** A command that keeps running, such as a server. */
export class Started {
  readonly #child: ChildProcess;
  readonly ended: Promise<number | null>;
  output = "";

  constructor(cwd: string, env: Environment, command: string, args: readonly string[]) {
    this.#child = spawn(command, [...args], {
      cwd,
      env: { ...env },
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream?.on("data", (chunk: Buffer) => {
        this.output += String(chunk);
      });
    this.ended = once(this.#child, "close").then(([code]) => code as number | null);
  }

  /** Waits for a line and returns its first group. Rejects if the command ends before. */
  async until(line: RegExp): Promise<string> {
    let isEnded = false;
    void this.ended.then(() => (isEnded = true));
    for (;;) {
      const found = line.exec(this.output);
      if (found !== null) return found[1] ?? found[0];
      if (isEnded) throw new Error(`ended before it printed ${line}:\n${this.output}`);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  /** Ends the command and everything it has started, as Ctrl-C does. */
  async end(): Promise<void> {
    if (this.#child.pid !== undefined && this.#child.exitCode === null) process.kill(-this.#child.pid, "SIGINT");
    await this.ended;
  }
}
