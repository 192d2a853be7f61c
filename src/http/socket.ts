import type { RawSocket } from "./exchange.ts";

/** What comes in on a socket: text, or bytes. */
export type SocketMessage = string | Uint8Array;

/**
 * An open WebSocket. Its messages are iterated; the loop ends when the socket does. Reading slowly slows the client down:
 * beyond a few unread messages no more is taken from the connection.
 *
 * @example
 * ```ts
 * import { PorticoApp } from "portico";
 *
 * new PorticoApp().socket("/echo", async ({ socket }) => {
 *   for await (const message of socket) socket.send(message);
 * });
 * ```
 */
export interface Socket extends AsyncIterable<SocketMessage, void, void> {
  /** The subprotocol agreed on; empty without one. */
  readonly protocol: string;
  /** Bytes that wait for the client to read them. */
  readonly bufferedAmount: number;
  /** Sends, or closes the socket with 1013 when the client has left too much unread. On a closed socket it does nothing. */
  send(data: SocketMessage): void;
  /** @default code 1000 */
  close(code?: number, reason?: string): void;
}

export interface SocketLimits {
  /** Unread bytes of one client beyond which it is dropped. */
  readonly maxBufferedBytes: number;
  /** How often the client is asked whether it is still there; 0 is never. */
  readonly pingMs: number;
}

/** Messages read ahead of the handler before the connection is paused. */
const READ_AHEAD = 16;

/** The one class behind `Socket`. */
export class ServerSocket implements Socket {
  /** Ends when the socket has. */
  readonly closed: Promise<void>;
  readonly #raw: RawSocket;
  readonly #limits: SocketLimits;
  readonly #unread: SocketMessage[] = [];
  #wake: (() => void) | null = null;
  #isClosed = false;

  constructor(raw: RawSocket, limits: SocketLimits) {
    this.#raw = raw;
    this.#limits = limits;
    raw.onMessage((message) => this.#receive(message));
    const stopPinging = limits.pingMs === 0 ? () => {} : keepAlive(raw, limits.pingMs);
    this.closed = new Promise((resolve) => {
      raw.onClose(() => {
        stopPinging();
        this.#isClosed = true;
        this.#wake?.();
        resolve();
      });
    });
  }

  get protocol(): string {
    return this.#raw.protocol;
  }
  get bufferedAmount(): number {
    return this.#raw.bufferedAmount;
  }

  send(data: SocketMessage): void {
    if (this.#isClosed) return;
    if (this.#raw.bufferedAmount > this.#limits.maxBufferedBytes) {
      this.#raw.close(1013, "too much is unread");
      // A client that does not read does not read the close frame either.
      this.#raw.terminate();
      return;
    }
    this.#raw.send(data);
  }

  close(code = 1000, reason = ""): void {
    if (!this.#isClosed) this.#raw.close(code, reason);
  }

  /** Ends it without a word, for a client that does not listen. */
  terminate(): void {
    this.#raw.terminate();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<SocketMessage, void, void> {
    for (;;) {
      const message = this.#unread.shift();
      if (message !== undefined) {
        if (this.#unread.length === READ_AHEAD >> 1) this.#raw.resume();
        yield message;
      } else if (this.#isClosed) {
        return;
      } else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    }
  }

  #receive(message: SocketMessage): void {
    this.#unread.push(message);
    if (this.#unread.length === READ_AHEAD) this.#raw.pause();
    this.#wake?.();
  }
}

/** Pings, and drops a client that did not answer the last one. Gives what stops it. */
function keepAlive(raw: RawSocket, pingMs: number): () => void {
  let isAlive = true;
  raw.onPong(() => {
    isAlive = true;
  });
  const timer = setInterval(() => {
    if (!isAlive) return raw.terminate();
    isAlive = false;
    raw.ping();
  }, pingMs);
  timer.unref();
  return () => clearInterval(timer);
}
