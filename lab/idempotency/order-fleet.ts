import { Child } from "../servers/child.ts";
import type { OrderServerSettings } from "./order-server.ts";

const SERVER = new URL("order-server.ts", import.meta.url);
const EXIT_MS = 5_000;

/** Processes that are replaced, each on its port, whenever they die. */
export class OrderFleet {
  readonly ports: readonly number[];
  readonly #settings: Omit<OrderServerSettings, "port">;
  readonly #children: Child[];
  #isStopping = false;
  deaths = 0;

  private constructor(settings: Omit<OrderServerSettings, "port">, children: Child[], ports: readonly number[]) {
    this.#settings = settings;
    this.#children = children;
    this.ports = ports;
    for (const index of ports.keys()) this.#replaceAfterDeath(index);
  }

  static async start(size: number, settings: Omit<OrderServerSettings, "port">): Promise<OrderFleet> {
    const children = Array.from({ length: size }, () => new Child(SERVER, { ...settings, port: 0 }));
    try {
      return new OrderFleet(settings, children, await Promise.all(children.map((child) => child.hear<number>("port"))));
    } catch (error) {
      for (const child of children) child.kill();
      throw error;
    }
  }

  /** Kills a process with SIGKILL, wherever it is. */
  kill(index: number): void {
    this.#children[index]?.kill();
  }

  stop(): void {
    this.#isStopping = true;
    for (const child of this.#children) child.kill();
  }

  #replaceAfterDeath(index: number): void {
    const child = this.#children[index] as Child;
    // It says nothing more, so this settles when it ends.
    child.hear("nothing").catch(async () => {
      if (this.#isStopping) return;
      this.deaths++;
      await child.ended(EXIT_MS);
      this.#children[index] = new Child(SERVER, { ...this.#settings, port: this.ports[index] });
      if (this.#isStopping) this.#children[index]?.kill();
      else this.#replaceAfterDeath(index);
    });
  }
}
