import type { Clock } from "../../core/clock.ts";
import type { RawSocket } from "./exchange.ts";
import { STALLED_MS } from "./unread-responses.ts";

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
  /** Unread bytes beyond which nothing more is made for it; the connection itself holds some 64 kB. */
  readonly pauseBytes: number;
  /** How often the client is asked whether it is still there; 0 is never. */
  readonly pingMs: number;
  /** Messages and pings that a client may send in a second; 0 is any number. */
  readonly maxMessagesPerSecond: number;
}

/** Messages read ahead of the handler before the connection is paused. */
const READ_AHEAD = 16;
/** How long a client may take to answer that the socket is closed. */
const CLOSING_MS = 5_000;

/** The one class behind `Socket`. */
export class ServerSocket implements Socket {
  /** Ends when the socket has. */
  readonly closed: Promise<void>;
  readonly #raw: RawSocket;
  readonly #limits: SocketLimits;
  readonly #clock: Clock;
  readonly #unread: SocketMessage[] = [];
  #consume: ((message: SocketMessage) => void) | null = null;
  #onEnding: (() => void) | null = null;
  #wake: (() => void) | null = null;
  #drained: PromiseWithResolvers<void> | null = null;
  #isEnding = false;
  #isClosed = false;
  #cutting: NodeJS.Timeout | undefined;
  #isAlive = true;
  #pingAt: number;
  #stalledAt: number | null = null;
  #window = { endsAt: 0, messages: 0 };

  constructor(raw: RawSocket, limits: SocketLimits, clock: Clock) {
    this.#raw = raw;
    this.#limits = limits;
    this.#clock = clock;
    this.#pingAt = clock.monotonic() + limits.pingMs;
    raw.onMessage((message) => this.#receive(message));
    raw.onPing(() => this.#count());
    raw.onPong(() => {
      this.#isAlive = true;
      // One that nobody asked for is work as well.
      this.#count();
    });
    this.closed = new Promise((resolve) => {
      raw.onClose(() => {
        this.#isClosed = true;
        clearTimeout(this.#cutting);
        this.#end();
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
    if (this.#isEnding) return;
    if (this.#raw.bufferedAmount > this.#limits.maxBufferedBytes) this.#drop();
    else this.#raw.send(data);
  }

  /** A promise while so much is unread that nothing more should be made for the client: until it has read, or is gone. */
  get pause(): Promise<void> | undefined {
    if (this.#isEnding || !this.#raw.isFull || this.#raw.bufferedAmount <= this.#limits.pauseBytes) return undefined;
    if (this.#drained !== null) return this.#drained.promise;
    this.#drained = Promise.withResolvers();
    this.#stalledAt = this.#clock.monotonic();
    this.#raw.onceDrained(() => this.#flow());
    return this.#drained.promise;
  }

  close(code = 1000, reason = ""): void {
    if (this.#isEnding) return;
    this.#raw.close(code, reason);
    this.#cutting = setTimeout(() => this.#raw.terminate(), CLOSING_MS).unref();
    this.#end();
  }

  /** Ends it without a word, for a client that does not listen. */
  terminate(): void {
    this.#raw.terminate();
  }

  /** Takes every message as it comes, in the place of a loop that reads them. */
  consume(receive: (message: SocketMessage) => void): void {
    this.#consume = receive;
    for (const message of this.#unread.splice(0)) receive(message);
    this.#raw.resume();
  }

  /** Called once, when nothing can be sent any more: at the latest when the socket is closed. */
  onEnding(ending: () => void): void {
    if (this.#isEnding) ending();
    else this.#onEnding = ending;
  }

  /** Pings when it is time, and drops a client that did not answer the last one, or does not read. */
  beat(now: number): void {
    if (this.#stalledAt !== null && now - this.#stalledAt > STALLED_MS) return this.#drop();
    const { pingMs } = this.#limits;
    if (pingMs === 0 || now < this.#pingAt) return;
    if (!this.#isAlive) return this.#raw.terminate();
    this.#isAlive = false;
    this.#pingAt = now + pingMs;
    this.#raw.ping();
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
    // A client goes on talking until it has read that the socket is closed, and longer if it likes.
    if (this.#isEnding || !this.#count()) return;
    if (this.#consume !== null) return this.#consume(message);
    this.#unread.push(message);
    if (this.#unread.length === READ_AHEAD) this.#raw.pause();
    this.#wake?.();
  }

  /** Whether the client may go on like this. */
  #count(): boolean {
    const { maxMessagesPerSecond } = this.#limits;
    if (maxMessagesPerSecond === 0) return true;
    const now = this.#clock.monotonic();
    if (now >= this.#window.endsAt) this.#window = { endsAt: now + 1_000, messages: 0 };
    if (++this.#window.messages <= maxMessagesPerSecond) return true;
    this.close(1008, "too many messages");
    return false;
  }

  #drop(): void {
    this.#raw.close(1013, "the client reads too slowly");
    // A client that does not read does not read the close frame either.
    this.#raw.terminate();
    this.#end();
  }

  #flow(): void {
    this.#stalledAt = null;
    this.#drained?.resolve();
    this.#drained = null;
  }

  #end(): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    this.#flow();
    this.#onEnding?.();
  }
}
