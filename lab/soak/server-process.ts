import { setTimeout as sleep } from "node:timers/promises";
import { Child } from "../servers/child.ts";
import type { Figures } from "./figures.ts";
import type { ServerOrder } from "./server.ts";
import type { SoakSettings } from "./soak-settings.ts";

const SERVER = new URL("server.ts", import.meta.url);
const EXIT_MS = 5_000;

/** The process that is soaked. It can be killed and started again on the same port. */
export class ServerProcess {
  readonly port: number;
  /** The figures of the first process before any load. A restarted one is never idle. */
  readonly idle: Figures;
  readonly #settings: SoakSettings;
  #child: Child;

  private constructor(settings: SoakSettings, child: Child, port: number, idle: Figures) {
    this.#settings = settings;
    this.#child = child;
    this.port = port;
    this.idle = idle;
  }

  static async start(settings: SoakSettings): Promise<ServerProcess> {
    const child = fork(settings);
    try {
      const port = await child.hear<number>("port");
      return new ServerProcess(settings, child, port, await child.ask("figures", { tell: "everything" }));
    } catch (error) {
      child.kill();
      throw error;
    }
  }

  async restart(downMs: number): Promise<void> {
    this.kill();
    await this.#child.ended(EXIT_MS);
    await sleep(downMs);
    this.#child = fork({ ...this.#settings, faults: { restartedOn: this.port } });
    await this.#child.hear("port");
  }

  /** Stops it with SIGSTOP: its connections stay open, and its timers are late afterwards. */
  pause(): void {
    this.#child.signal("SIGSTOP");
  }

  resume(): void {
    this.#child.signal("SIGCONT");
  }

  figures(tell: "figures" | "everything"): Promise<Figures> {
    return this.#child.ask("figures", { tell });
  }

  async order(order: ServerOrder): Promise<void> {
    await this.#child.ask("obeyed", order);
  }

  /** Closes the application; `null` when the process does not end by itself after that. */
  async close(): Promise<{ readonly closed: Figures; readonly exitCode: number | null }> {
    const closed = await this.#child.ask<Figures>("figures", { close: true });
    return { closed, exitCode: await this.#child.ended(EXIT_MS) };
  }

  kill(): void {
    this.#child.kill();
  }
}

function fork(settings: SoakSettings): Child {
  return new Child(SERVER, settings, ["--expose-gc", "--disable-warning=ExperimentalWarning"]);
}
