import type { Clock } from "../../core/clock.ts";
import type { RawSocket } from "./exchange.ts";
import { STALLED_MS } from "./unread-responses.ts";

/** A message on a socket: text or bytes. */
export type SocketMessage = string | Uint8Array;

/**
 * An open WebSocket. Iterate over it to read its messages; the loop ends when the socket does. Reading slowly slows the client
 * down: beyond a few unread messages nothing more is read from the connection.
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
  /** The negotiated subprotocol; empty without one. */
  readonly protocol: string;
  /** Bytes that the client has not read yet. */
  readonly bufferedAmount: number;
  /** Sends a message, or closes the socket with 1013 if the client has left too much unread. On a closed socket it does nothing. */
  send(data: SocketMessage): void;
  /** @default code 1000 */
  close(code?: number, reason?: string): void;
}

export interface SocketLimits {
  /** The number of unread bytes after which a client is disconnected. */
  readonly maxBufferedBytes: number;
  /** The number of unread bytes after which nothing more is produced for the client. The connection itself buffers about 64 kB. */
  readonly pauseBytes: number;
  /** The interval between pings; 0 disables them. */
  readonly pingMs: number;
  /** The maximum number of messages and pings from a client per second; 0 disables the limit. */
  readonly maxMessagesPerSecond: number;
}

/** Messages read ahead of the handler before the connection is paused. */
const READ_AHEAD = 16;
/** How long a client may take to confirm that the socket is closed. */
const CLOSING_MS = 5_000;

/** The only implementation of `Socket`. */
export class ServerSocket implements Socket {
  /** Resolves when the socket is closed. */
  readonly closed: Promise<void>;
  readonly #raw: RawSocket;
  readonly #limits: SocketLimits;
  readonly #clock: Clock;
  readonly #begin: () => void;
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

  /** @param begin is called when the handler receives a message, before it does */
  constructor(raw: RawSocket, limits: SocketLimits, clock: Clock, begin: () => void) {
    this.#raw = raw;
    this.#limits = limits;
    this.#clock = clock;
    this.#begin = begin;
    this.#pingAt = clock.monotonic() + limits.pingMs;
    raw.onMessage((message) => this.#receive(message));
    raw.onPing(() => this.#count());
    raw.onPong(() => {
      this.#isAlive = true;
      // An unsolicited pong is work as well.
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

  /**
   * A promise while the client has so much unread that nothing more should be produced for it. It resolves when the client has
   * read, or disconnected.
   */
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

  /** Ends it without a close frame, for a client that does not respond. */
  terminate(): void {
    this.#raw.terminate();
  }

  /** Receives every message as it arrives, instead of a loop that reads them. Call it before anything is awaited. */
  consume(receive: (message: SocketMessage) => void): void {
    this.#consume = receive;
  }

  /** Called once, when nothing can be sent any more: at the latest when the socket is closed. */
  onEnding(ending: () => void): void {
    if (this.#isEnding) ending();
    else this.#onEnding = ending;
  }

  /** Pings when it is due, and disconnects a client that did not respond to the last ping, or does not read. */
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
        this.#begin();
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
    // A client may keep sending until it has read that the socket is closed, or longer.
    if (this.#isEnding || !this.#count()) return;
    if (this.#consume !== null) {
      this.#begin();
      return this.#consume(message);
    }
    this.#unread.push(message);
    if (this.#unread.length === READ_AHEAD) this.#raw.pause();
    this.#wake?.();
  }

  /** Counts a message. Returns whether the client stays within its limit. */
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
