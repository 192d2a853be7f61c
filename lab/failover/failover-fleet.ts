import { Child } from "../servers/child.ts";
import type { FailoverSettings } from "./failover-server.ts";

/** Where a process finds its servers. */
export type Place = Omit<FailoverSettings, "port">;

const SERVER = new URL("failover-server.ts", import.meta.url);
const EXIT_MS = 5_000;

/** Processes of one application, which can be killed and replaced. */
export class FailoverFleet {
  readonly ports: readonly number[];
  readonly #place: (process: number) => Place;
  readonly #children: Child[];

  private constructor(place: (process: number) => Place, children: Child[], ports: readonly number[]) {
    this.#place = place;
    this.#children = children;
    this.ports = ports;
  }

  static async start(size: number, place: (process: number) => Place): Promise<FailoverFleet> {
    const children = Array.from({ length: size }, (_, n) => new Child(SERVER, { ...place(n), port: 0 }));
    try {
      return new FailoverFleet(place, children, await Promise.all(children.map((child) => child.hear<number>("port"))));
    } catch (error) {
      for (const child of children) child.kill();
      throw error;
    }
  }

  /** Kills a process with SIGKILL and starts another one on its port. */
  async replace(process: number): Promise<void> {
    this.#children[process]?.kill();
    await this.#children[process]?.ended(EXIT_MS);
    const child = new Child(SERVER, { ...this.#place(process), port: this.ports[process] });
    this.#children[process] = child;
    await child.hear("port");
  }

  stop(): void {
    for (const child of this.#children) child.kill();
  }
}
