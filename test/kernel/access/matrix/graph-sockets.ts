import { type LiveClient, SocketRefused, type TestSocket } from "portico/testing";
import type { Identity } from "./identities.ts";
import type { Owner } from "./model.ts";

/** The messages that answer one operation, or the status or close code that rejected the socket. */
export type SocketReply =
  | { readonly refused: string; readonly text: string }
  | { readonly payloads: readonly unknown[]; readonly text: string };

/** Sockets that speak graphql-transport-ws, one for each caller and path. */
export class GraphSockets {
  readonly #client: LiveClient;
  readonly #open = new Map<string, TestSocket>();
  #sent = 0;

  constructor(client: LiveClient) {
    this.#client = client;
  }

  async run(path: string, identity: Identity, owner: Owner, query: string): Promise<SocketReply> {
    const key = JSON.stringify([path, identity.name, owner]);
    const socket = this.#open.get(key) ?? (await this.#connect(path, { ...identity.headers, "x-owner": owner }));
    if (!("send" in socket)) return socket;
    this.#open.set(key, socket);
    const id = String(++this.#sent);
    socket.send(JSON.stringify({ id, type: "subscribe", payload: { query } }));
    const [payloads, texts]: [unknown[], string[]] = [[], []];
    for (;;) {
      const text = await socket.next();
      const message = JSON.parse(text) as { readonly id?: string; readonly type: string; readonly payload: unknown };
      texts.push(text);
      if (message.id !== id) continue;
      if (message.type === "next") payloads.push(message.payload);
      if (message.type === "error") payloads.push({ errors: message.payload });
      if (message.type === "error" || message.type === "complete") return { payloads, text: texts.join("\n") };
    }
  }

  async #connect(
    path: string,
    headers: Readonly<Record<string, string>>,
  ): Promise<TestSocket | (SocketReply & { readonly refused: string })> {
    try {
      const socket = await this.#client.socket(path, { headers, protocols: ["graphql-transport-ws"] });
      socket.send(JSON.stringify({ type: "connection_init" }));
      for await (const text of socket) if (text.includes('"connection_ack"')) return socket;
      const { code, reason } = await socket.closed;
      return { refused: `closed with ${code}`, text: reason };
    } catch (error) {
      if (!(error instanceof SocketRefused)) throw error;
      const { status } = error.response;
      return { refused: `upgrade rejected with ${status}`, text: error.response.text() };
    }
  }
}
