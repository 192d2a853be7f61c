import type { Clock } from "../../core/clock.ts";
import type { RawSocket } from "../../kernel/exchange/exchange.ts";
import type { Socket, SocketMessage } from "../../kernel/exchange/socket.ts";
import { STALLED_MS, type UnreadOutput, unreadOutputs } from "./unread-output.ts";

export interface SocketLimits {
  /** The memory for unread messages after which a client is disconnected. */
  readonly maxBufferedBytes: number;
  /** The memory after which nothing more is produced for the client. The connection itself buffers about 64 kB. */
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
/** The memory for unread output above which pings wait for their response. */
const PONG_BYTES = 65_536;

/** The only implementation of `Socket`. */
export class ServerSocket implements Socket, UnreadOutput {
  /** Resolves when the socket is closed. */
  readonly closed: Promise<void>;
  readonly #raw: RawSocket;
  readonly #limits: SocketLimits;
  readonly #clock: Clock;
  readonly #address: string;
  readonly #begin: () => void;
  /** Returns the reason why the handler may send nothing; `null` while it may. */
  fault: () => Error | null = () => null;
  readonly #unread: SocketMessage[] = [];
  #consume: ((message: SocketMessage) => void) | null = null;
  #onEnding: (() => void) | null = null;
  #onBeat: (() => void) | null = null;
  #wake: (() => void) | null = null;
  #drained: PromiseWithResolvers<void> | null = null;
  #isEnding = false;
  #isClosed = false;
  #cutting: NodeJS.Timeout | undefined;
  #isAlive = true;
  #pingAt: number;
  /** The last ping without a response. RFC 6455 section 5.5.3: only the last one needs a response. */
  #lastPing: Buffer | null = null;
  #isHeld = false;
  /** The frames that the connection had sent, and when their number changed. */
  #sent: number;
  #sentAt: number;
  #window = { endsAt: 0, messages: 0 };

  /**
   * @param address the client's, to which its unread messages are charged
   * @param begin is called when the handler receives a message, before it does
   */
  constructor(raw: RawSocket, limits: SocketLimits, clock: Clock, address: string, begin: () => void) {
    this.#raw = raw;
    this.#limits = limits;
    this.#clock = clock;
    this.#address = address;
    this.#begin = begin;
    const now = clock.monotonic();
    this.#pingAt = now + limits.pingMs;
    this.#sent = raw.progress;
    this.#sentAt = now;
    raw.onMessage((message) => this.#receive(message));
    raw.onPing((payload) => {
      if (this.#isEnding || !this.#count()) return;
      this.#lastPing = payload;
      this.#pong();
    });
    raw.onPong(() => {
      this.#isAlive = true;
      // An unsolicited pong is work as well.
      this.#count();
    });
    this.closed = new Promise((resolve) => {
      raw.onClose(() => {
        this.#isClosed = true;
        clearTimeout(this.#cutting);
        unreadOutputs.remove(this, this.#address);
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
    const fault = this.fault();
    if (fault !== null) {
      this.close(1011, "internal error");
      throw fault;
    }
    if (this.#raw.heldBytes > this.#limits.maxBufferedBytes) return this.cutOff();
    this.#raw.send(data);
    this.#charge();
  }

  /**
   * A promise while the client has so much unread that nothing more should be produced for it. It resolves when the client has
   * read, or disconnected.
   */
  get pause(): Promise<void> | undefined {
    if (this.#isEnding || !this.#raw.isFull || this.#raw.heldBytes <= this.#limits.pauseBytes) return undefined;
    if (this.#drained !== null) return this.#drained.promise;
    this.#drained = Promise.withResolvers();
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

  /** Called with each ping that is sent. */
  onBeat(beat: () => void): void {
    this.#onBeat = beat;
  }

  /** Pings when it is due, and disconnects a client that did not respond to the last ping, or does not read. */
  beat(now: number): void {
    this.#charge();
    this.#pong();
    const { bufferedAmount, progress } = this.#raw;
    if (bufferedAmount === 0 || progress !== this.#sent) {
      this.#sent = progress;
      this.#sentAt = now;
    } else if (now - this.#sentAt > STALLED_MS) {
      return this.cutOff();
    }
    const { pingMs } = this.#limits;
    if (pingMs === 0 || now < this.#pingAt) return;
    if (!this.#isAlive) return this.#raw.terminate();
    this.#isAlive = false;
    this.#pingAt = now + pingMs;
    this.#raw.ping();
    this.#onBeat?.();
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

  /** Disconnects a client that does not read. */
  cutOff(): void {
    this.#raw.close(1013, "the client reads too slowly");
    // A client that does not read does not read the close frame either.
    this.#raw.terminate();
    this.#end();
  }

  /** Charges the unread messages to the client's address. */
  #charge(): void {
    const { bufferedAmount, heldBytes } = this.#raw;
    const isHeld = bufferedAmount > 0;
    if (isHeld) unreadOutputs.set(this, heldBytes, this.#address);
    else if (this.#isHeld) unreadOutputs.remove(this, this.#address);
    this.#isHeld = isHeld;
  }

  /** Responds to the last ping, unless its client has much to read already. */
  #pong(): void {
    if (this.#lastPing === null || this.#raw.heldBytes > PONG_BYTES) return;
    this.#raw.pong(this.#lastPing);
    this.#lastPing = null;
  }

  #flow(): void {
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
