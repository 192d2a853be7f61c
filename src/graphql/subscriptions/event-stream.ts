import { Readable } from "node:stream";
import type { HttpContext } from "../../http/context/http-context.ts";
import { LISTENING, TELL_LISTENING } from "../../http/context/listening.ts";
import { STALLED_MS } from "../../http/context/unread-responses.ts";
import type { Identity } from "../../http/identity/identity.ts";
import type { OpenConnection } from "../../http/identity/open-connections.ts";
import { type EventSink, type LiveSubscription, recheck } from "./live-subscription.ts";
import type { Subscriptions } from "./subscriptions.ts";

export const STREAM_TYPE = "text/event-stream";

/** The events of one operation as Server-Sent Events: `next` for each, `complete` at the end, and comments in between. */
export class EventStream extends Readable implements EventSink, OpenConnection {
  readonly ended: Promise<void>;
  readonly #ctx: HttpContext;
  readonly #live: LiveSubscription;
  readonly #options: Subscriptions;
  #drained: PromiseWithResolvers<void> | null = null;
  /** Since when the client has had too much unread. */
  #stalledAt = 0;
  #beatAt: number;
  #isOver = false;

  constructor(ctx: HttpContext, live: LiveSubscription, options: Subscriptions) {
    super({ highWaterMark: options.pauseAbove });
    this.#ctx = ctx;
    this.#live = live;
    this.#options = options;
    this.#beatAt = ctx.services.clock.monotonic() + options.pingSeconds * 1000;
    this.ended = new Promise((resolve) => this.once("close", resolve));
    // The client learns that it is connected before anything happens.
    this.push(COMMENT);
    live.start(this);
    if (ctx.exchange.headers[TELL_LISTENING] !== undefined) void this.#tellListening();
    // Last: a process that is leaving ends it here.
    ctx.services.connections.add(this);
  }

  get identity(): Identity {
    return this.#ctx.identity;
  }

  next(text: string): Promise<void> | undefined {
    if (this.readableLength > this.#options.maxBuffered) {
      this.destroy();
      return undefined;
    }
    if (this.push(eventOf("next", text))) return undefined;
    if (this.#drained === null) {
      this.#drained = Promise.withResolvers();
      this.#stalledAt = this.#ctx.services.clock.monotonic();
    }
    return this.#drained.promise;
  }

  error(text: string): void {
    this.push(eventOf("next", text));
    this.complete();
  }

  complete(): void {
    this.push(eventOf("complete", ""));
    this.#finish();
  }

  async #tellListening(): Promise<void> {
    await this.#live.whenListening?.();
    if (!this.#isOver && !this.destroyed) this.push(`${LISTENING}\n\n`);
  }

  beat(now: number): void {
    const { pingSeconds } = this.#options;
    if (this.#drained !== null && now - this.#stalledAt > STALLED_MS) return this.cut();
    if (this.#isOver || pingSeconds === 0 || now < this.#beatAt) return;
    this.#beatAt = now + pingSeconds * 1000;
    // What a client does not read is not there to be filled with comments.
    if (this.readableLength === 0) this.push(COMMENT);
  }

  recheck(): Promise<void> {
    return recheck(this.#ctx, [this.#live]);
  }

  /** Without `complete`: the client is to come back, with another credential or to another process. */
  end(): void {
    if (this.#isOver) return;
    void this.#live.leave();
    this.#finish();
  }

  cut(): void {
    this.destroy();
  }

  /** A client that does not read what is left is not waited for. */
  #finish(): void {
    this.#isOver = true;
    this.push(null);
    const cutting = setTimeout(() => this.destroy(), LINGER_MS).unref();
    this.once("close", () => clearTimeout(cutting));
  }

  override _read(): void {
    this.#flow();
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    void this.#live.leave();
    this.#flow();
    callback(error);
  }

  #flow(): void {
    this.#drained?.resolve();
    this.#drained = null;
  }
}

const LINGER_MS = 5_000;
const COMMENT = ":\n\n";

// An empty event would not be dispatched without its data line.
function eventOf(name: string, data: string): string {
  return `event: ${name}\ndata: ${data}\n\n`;
}
