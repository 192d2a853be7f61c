import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { ListeningReport } from "../../../listening-report.ts";

/** How a server ended by itself. */
export interface Ended {
  readonly code: number | null;
  readonly signal: string | null;
}

type Environment = Readonly<Record<string, string | undefined>>;

interface Listener {
  line(text: string): void;
  errorLine(text: string): void;
  listening(report: ListeningReport): void;
}

/** A process of the server. */
export class ServerProcess {
  readonly #child: ChildProcess;
  /** Resolves when the process has ended and everything that it wrote was passed on. */
  readonly ended: Promise<Ended>;

  constructor(entry: string, { cwd, env }: { readonly cwd: string; readonly env: Environment }, listener: Listener) {
    // Begins a line that is not output of the server. No library that prints can know it.
    const mark = `portico ${randomUUID()} `;
    this.#child = spawn(process.execPath, [...process.execArgv, "--import", preload(mark), entry], {
      cwd,
      env: { ...env },
      stdio: ["ignore", "pipe", "pipe", "ipc"],
      // Ctrl-C reaches all processes of the terminal's group. This one gets one signal, from its parent.
      detached: process.platform !== "win32",
    });
    const { stdout, stderr } = this.#child;
    if (stdout !== null) createInterface(stdout).on("line", (text) => take(text, mark, listener));
    if (stderr !== null) createInterface(stderr).on("line", (text) => listener.errorLine(text));
    this.ended = once(this.#child, "close").then(([code, signal]): Ended => ({ code, signal }));
  }

  /** Shuts the server down. After the grace time it is killed; `null` waits for it. */
  async end(graceMs: number | null): Promise<void> {
    this.#child.kill("SIGTERM");
    const timer = graceMs === null ? undefined : setTimeout(() => this.#child.kill("SIGKILL"), graceMs);
    await this.ended;
    clearTimeout(timer);
  }
}

/** The report comes with the output, so that it keeps its place among the lines of the log. */
function take(text: string, mark: string, listener: Listener): void {
  if (text.startsWith(mark)) listener.listening(JSON.parse(text.slice(mark.length)) as ListeningReport);
  else listener.line(text);
}

/** The logger writes in the background. The report must not overtake the warnings of the startup. */
const LOG_DELAY_MS = 10;

/**
 * Runs in the server before its entry: passes on that an application listens, and ends the server with its parent. It is
 * text, because the build joins modules to a few files. The listener on the channel does not keep the process alive.
 */
function preload(mark: string): string {
  return `data:text/javascript,${encodeURIComponent(`
    import { subscribe } from "node:diagnostics_channel";
    subscribe("portico.listening", (report) => {
      const line = ${JSON.stringify(mark)} + JSON.stringify(report) + "\\n";
      setTimeout(() => process.stdout.write(line), ${LOG_DELAY_MS});
    });
    process.once("disconnect", () => process.kill(process.pid, "SIGTERM"));
    process.channel.unref();
  `)}`;
}
