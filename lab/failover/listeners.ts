import { WebSocket } from "ws";

const SUBSCRIBE = JSON.stringify({ type: "subscribe", id: "1", payload: { query: "subscription { ticks }" } });

/** Sockets with one subscription each, spread over the processes. A socket that is closed or ends is opened again. */
export class Listeners {
  /** The newest event that each has heard. */
  readonly heard: number[];
  reconnects = 0;
  readonly #sockets: WebSocket[] = [];
  #isStopped = false;

  constructor(ports: readonly number[], count: number) {
    this.heard = Array.from({ length: count }, () => -1);
    for (let n = 0; n < count; n++) this.#open(n, ports[n % ports.length] ?? 0);
  }

  /** How many have heard this event or a newer one. */
  since(tick: number): number {
    return this.heard.filter((newest) => newest >= tick).length;
  }

  stop(): void {
    this.#isStopped = true;
    for (const socket of this.#sockets) socket.terminate();
  }

  #open(n: number, port: number): void {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/graphql`, ["graphql-transport-ws"], {
      perMessageDeflate: false,
    });
    this.#sockets[n] = socket;
    socket.on("open", () => socket.send('{"type":"connection_init"}'));
    socket.on("message", (data: Buffer) => {
      const message = JSON.parse(data.toString()) as {
        readonly type: string;
        readonly payload?: { readonly data?: { readonly ticks: number } | null };
      };
      if (message.type === "connection_ack") socket.send(SUBSCRIBE);
      else if (message.type === "next" && message.payload?.data) this.heard[n] = message.payload.data.ticks;
      else if (message.type === "error" || message.type === "complete" || message.type === "next") socket.close();
    });
    socket.on("error", () => {});
    socket.on("close", () => {
      if (this.#isStopped) return;
      this.reconnects += 1;
      setTimeout(() => this.#open(n, port), 200 + Math.random() * 800);
    });
  }
}
