import { setTimeout as sleep } from "node:timers/promises";
import { WebSocket } from "ws";
import type { World } from "./world.ts";

interface Message {
  readonly type: string;
  readonly id?: string;
}

const TIMEOUT_MS = 60_000;

/** A client of `graphql-transport-ws` that counts what it hears. */
export class GraphSocket {
  readonly socket: WebSocket;
  /** The code it was closed with. */
  readonly closed: Promise<number>;
  readonly #heard: Message[] = [];
  #onMessage: (() => void) | null = null;

  constructor({ port }: World, headers: Readonly<Record<string, string>> = {}) {
    this.socket = new WebSocket(`ws://127.0.0.1:${port}/graphql`, ["graphql-transport-ws"], {
      perMessageDeflate: false,
      headers,
    });
    this.closed = new Promise((resolve) => this.socket.once("close", resolve));
    this.socket.on("error", () => {});
    this.socket.on("message", (data: Buffer) => {
      this.#heard.push(JSON.parse(data.toString()) as Message);
      this.#onMessage?.();
    });
  }

  /** Says who it is and waits until it is let in. */
  async init(payload: Readonly<Record<string, string>> = {}): Promise<this> {
    await new Promise((resolve, reject) => {
      this.socket.once("open", resolve);
      this.socket.once("error", reject);
    });
    this.send({ type: "connection_init", payload });
    await this.hear("connection_ack");
    return this;
  }

  subscribe(id: string, query: string): this {
    this.send({ type: "subscribe", id, payload: { query } });
    return this;
  }

  send(message: object | string): void {
    this.socket.send(typeof message === "string" ? message : JSON.stringify(message));
  }

  /** Waits for so many messages of this type. */
  async hear(type: string, count = 1): Promise<void> {
    const isHeard = (): boolean => this.#heard.filter((message) => message.type === type).length >= count;
    const late = AbortSignal.timeout(TIMEOUT_MS);
    while (!isHeard()) {
      const next = new Promise<void>((resolve) => (this.#onMessage = resolve));
      await Promise.race([next, this.closed, sleep(TIMEOUT_MS, undefined, { ref: false })]);
      if (isHeard()) return;
      if (late.aborted || this.socket.readyState !== WebSocket.OPEN)
        throw new Error(`no ${type} of ${count} was heard: ${JSON.stringify(this.#heard.slice(-3))}`);
    }
  }

  /** Waits until the server has closed it, and for that reason. */
  async expectClosed(...codes: number[]): Promise<void> {
    const code = await Promise.race([this.closed, sleep(TIMEOUT_MS, null, { ref: false })]);
    this.socket.terminate();
    if (code === null || !codes.includes(code))
      throw new Error(`the socket was closed with ${code ?? "nothing"}, not with ${codes.join(" or ")}`);
  }
}
