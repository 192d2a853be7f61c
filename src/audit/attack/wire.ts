import { randomInt } from "node:crypto";
import { Agent, request as httpRequest, type IncomingMessage } from "node:http";
import { WebSocket } from "ws";

export type Headers = Readonly<Record<string, string>>;

export interface WireRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Headers;
  readonly body?: string | Uint8Array;
  /** Of an event stream, whether to wait for its first result. It may never come. */
  readonly awaitsEvent?: boolean;
}

export interface WireResponse {
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

/** The result of an upgrade: an open socket, or the response that refused it. */
export type Upgrade = { readonly socket: WebSocket } | { readonly response: WireResponse };

/** How often one request changes the address. */
const MAX_MOVES = 10;

/** Opens real connections to the application. Sometimes it changes its address, because limits count by address. */
export class Wire {
  readonly #port: number;
  readonly #timeoutMs: number;
  readonly #subnet = `127.${randomInt(1, 255)}`;
  readonly #agents: Agent[] = [new Agent({ keepAlive: true })];
  #canMove = true;

  constructor(port: number, timeoutMs: number) {
    this.#port = port;
    this.#timeoutMs = timeoutMs;
  }

  /** Sends a request, again from another address if the first one has sent too many. Rejects if there is no response. */
  async request(request: WireRequest): Promise<WireResponse> {
    return this.#withinLimits(
      () => this.#request(request),
      ({ status }) => status === 429,
    );
  }

  async upgrade(path: string, headers: Headers, protocols: readonly string[] = []): Promise<Upgrade> {
    return this.#withinLimits(
      () => this.#upgrade(path, headers, protocols),
      (upgrade) => "response" in upgrade && upgrade.response.status === 429,
    );
  }

  /** Several times, because other requests use the new address at the same time. */
  async #withinLimits<T>(send: () => Promise<T>, isLimited: (result: T) => boolean): Promise<T> {
    for (let moves = 0; ; moves++) {
      const result = await send();
      if (!isLimited(result) || moves === MAX_MOVES || !this.#move()) return result;
    }
  }

  close(): void {
    for (const agent of this.#agents) agent.destroy();
  }

  #request({ method, path, headers, body, awaitsEvent = false }: WireRequest): Promise<WireResponse> {
    const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) };
    return new Promise((resolve, reject) => {
      const outgoing = httpRequest(
        {
          ...this.#from,
          port: this.#port,
          agent: this.#agents.at(-1),
          method,
          path,
          headers: { ...headers, ...length },
        },
        (response) => void readResponse(response, awaitsEvent).then(resolve, reject),
      );
      outgoing.setTimeout(this.#timeoutMs, () => outgoing.destroy(new Error("no response in time")));
      outgoing.on("error", reject);
      outgoing.end(body);
    });
  }

  #upgrade(path: string, headers: Headers, protocols: readonly string[]): Promise<Upgrade> {
    const socket = new WebSocket(`ws://127.0.0.1:${this.#port}${path}`, [...protocols], {
      headers,
      handshakeTimeout: this.#timeoutMs,
      ...this.#from,
    });
    return new Promise((resolve, reject) => {
      socket.on("error", reject);
      socket.on("open", () => resolve({ socket }));
      socket.on("unexpected-response", (_request, response) => {
        readResponse(response, false).then((read) => resolve({ response: read }), reject);
      });
    });
  }

  get #from(): { readonly host: string; readonly localAddress?: string } {
    const host = "127.0.0.1";
    const moves = this.#agents.length - 1;
    const localAddress = `${this.#subnet}.${Math.floor(moves / 254)}.${(moves % 254) + 1}`;
    return this.#canMove ? { host, localAddress } : { host };
  }

  /** Continues from another address, and returns whether there is one. Connections from the last one are finished. */
  #move(): boolean {
    if (this.#canMove) this.#agents.push(new Agent({ keepAlive: true }));
    return this.#canMove;
  }

  /** Checks whether other local addresses work here. */
  async begin(): Promise<void> {
    try {
      await this.#request({ method: "HEAD", path: "/", headers: {} });
    } catch {
      this.#canMove = false;
    }
  }
}

async function readResponse(response: IncomingMessage, awaitsEvent: boolean): Promise<WireResponse> {
  const type = response.headers["content-type"] ?? "";
  const status = response.statusCode ?? 0;
  const isStream = type.startsWith("text/event-stream");
  let text = "";
  if (!isStream || awaitsEvent)
    for await (const chunk of response.setEncoding("utf8")) {
      text += chunk as string;
      if (isStream && EVENT.test(text)) break;
    }
  // A stream of events may never end.
  if (isStream) response.destroy();
  return { status, type, text: isStream ? (EVENT.exec(text)?.[1] ?? "") : text };
}

const EVENT = /^data: (.+)\n\n/m;
