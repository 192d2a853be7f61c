import type { LiveClient, TestSocket } from "portico/testing";
import type { Caller } from "./callers.ts";
import type { Shot } from "./shots.ts";

/** Sends requests as a caller, and returns everything that comes back as text: status, headers and body. */
export class Wire {
  readonly #client: LiveClient;
  readonly #caller: Caller;
  #socket: Promise<TestSocket> | null = null;
  readonly #frames = new Map<string, string[]>();
  readonly #waiting = new Map<string, () => void>();
  #ids = 0;

  constructor(client: LiveClient, caller: Caller) {
    this.#client = client;
    this.#caller = caller;
  }

  async send(shot: Shot): Promise<string> {
    if (shot.kind === "socket") return this.#overSocket(shot.body ?? "");
    const { headers } = this.#caller;
    const json = { ...headers, "content-type": "application/json" };
    const response = await this.#client.request(
      shot.method,
      shot.target,
      shot.body === null ? { headers } : { headers: json, body: shot.body },
    );
    return `${response.status} ${JSON.stringify(response.headers)}\n${response.text()}`;
  }

  /** Subscribes over the socket. Returns the frames, which keep coming until `stop` is called. */
  async subscribe(body: string): Promise<{ readonly frames: readonly string[]; stop(): void }> {
    const socket = await this.#open();
    const id = `s${this.#ids++}`;
    const frames: string[] = [];
    this.#frames.set(id, frames);
    socket.send(`{"id":"${id}","type":"subscribe","payload":${body}}`);
    return { frames, stop: () => socket.send(`{"id":"${id}","type":"complete"}`) };
  }

  async close(): Promise<void> {
    const socket = await this.#socket;
    socket?.terminate();
  }

  async #overSocket(body: string): Promise<string> {
    const socket = await this.#open();
    const id = `q${this.#ids++}`;
    const frames: string[] = [];
    this.#frames.set(id, frames);
    const done = new Promise<void>((resolve) => this.#waiting.set(id, resolve));
    socket.send(`{"id":"${id}","type":"subscribe","payload":${body}}`);
    // A busy server may close the socket, for example because it has missed a pong.
    const end = await Promise.race([done, socket.closed]);
    if (end !== undefined) frames.push(`{"code":"SOCKET_CLOSED","end":${JSON.stringify(end)}}`);
    this.#frames.delete(id);
    this.#waiting.delete(id);
    return frames.join("\n");
  }

  #open(): Promise<TestSocket> {
    this.#socket ??= this.#connect();
    return this.#socket;
  }

  async #connect(): Promise<TestSocket> {
    const reconnect = (): void => {
      this.#socket = null;
    };
    const socket = await this.#client.socket("/graphql", {
      headers: this.#caller.headers,
      protocols: ["graphql-transport-ws"],
    });
    socket.send('{"type":"connection_init"}');
    await socket.next();
    void this.#listen(socket);
    void socket.closed.then(reconnect);
    return socket;
  }

  async #listen(socket: TestSocket): Promise<void> {
    for await (const frame of socket) {
      const { id = "", type } = JSON.parse(frame) as { readonly id?: string; readonly type: string };
      if (type === "ping") socket.send('{"type":"pong"}');
      this.#frames.get(id)?.push(frame);
      if (type === "complete" || type === "error") this.#waiting.get(id)?.();
    }
  }
}
