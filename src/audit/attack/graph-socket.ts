import { setTimeout as sleep } from "node:timers/promises";
import type { WebSocket } from "ws";
import { type Operation, withoutFiles } from "../targets/operation.ts";
import type { GraphBody } from "./outcome.ts";
import type { Headers, Wire, WireResponse } from "./wire.ts";

/** The first message about an operation; `null` if there was none, as for an open subscription without events. */
export type SocketResult = GraphBody | { readonly closed: number } | null;

interface ServerMessage {
  readonly type: string;
  readonly id?: string;
  readonly payload?: unknown;
}

/** The client of a `graphql-transport-ws` socket. */
export class GraphSocket {
  readonly #socket: WebSocket;
  readonly #waiting = new Map<string, (result: SocketResult) => void>();
  readonly #acknowledged: PromiseWithResolvers<void> = Promise.withResolvers();
  #closed: number | null = null;
  #last = 0;

  constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on("message", (data) => this.#receive(JSON.parse((data as Buffer).toString("utf8")) as ServerMessage));
    socket.on("close", (code) => this.#end(code));
    socket.send(JSON.stringify({ type: "connection_init" }));
  }

  /** Opens a socket, or returns the response that refused it. */
  static async open(wire: Wire, path: string, headers: Headers): Promise<GraphSocket | WireResponse> {
    const upgrade = await wire.upgrade(path, headers, ["graphql-transport-ws"]);
    return "socket" in upgrade ? new GraphSocket(upgrade.socket) : upgrade.response;
  }

  /** Starts an operation, and returns its first result within this time. */
  async run(operation: Operation, patienceMs: number): Promise<SocketResult> {
    await this.#acknowledged.promise;
    if (this.#closed !== null) return { closed: this.#closed };
    const id = String(this.#last++);
    const { plain } = withoutFiles(operation);
    const first = new Promise<SocketResult>((resolve) => this.#waiting.set(id, resolve));
    this.#send({ type: "subscribe", id, payload: { query: operation.query, variables: plain } });
    const patience = new AbortController();
    const result = await Promise.race([first, sleep(patienceMs, null, { signal: patience.signal }).catch(() => null)]);
    patience.abort();
    if (this.#waiting.delete(id) && this.#closed === null) this.#send({ type: "complete", id });
    return result;
  }

  close(): void {
    this.#socket.terminate();
  }

  #receive({ type, id, payload }: ServerMessage): void {
    if (type === "connection_ack") this.#acknowledged.resolve();
    if (type === "ping") this.#send({ type: "pong" });
    const settle = id === undefined ? undefined : this.#waiting.get(id);
    if (type === "next") settle?.(payload as GraphBody);
    if (type === "error") settle?.({ errors: payload } as GraphBody);
    if (type === "complete") settle?.({ data: {} });
  }

  #end(code: number): void {
    this.#closed = code;
    this.#acknowledged.resolve();
    for (const settle of this.#waiting.values()) settle({ closed: code });
  }

  #send(message: object): void {
    this.#socket.send(JSON.stringify(message));
  }
}
