import { Readable } from "node:stream";
import { inBackground } from "../../core/work/in-background.ts";
import { STALLED_MS } from "../../http/messages/unread-output.ts";
import type { HttpContext } from "../../kernel/context/http-context.ts";
import { asksWhenListening, LISTENING } from "../../kernel/events/listening.ts";
import type { Identity } from "../../kernel/identity/identity.ts";
import type { OpenConnection } from "../../kernel/identity/open-connection.ts";
import { type EventSink, type LiveSubscription, recheck } from "../streams/live-subscription.ts";
import type { Subscriptions } from "./subscriptions.ts";

export const STREAM_TYPE = "text/event-stream";

/** Sends the events of one operation as Server-Sent Events: `next` for each, `complete` at the end, comments in between. */
export class EventStream extends Readable implements EventSink, OpenConnection {
  readonly ended: Promise<void>;
  readonly #ctx: HttpContext;
  readonly #live: LiveSubscription;
  readonly #options: Subscriptions;
  #drained: PromiseWithResolvers<void> | null = null;
  /** When the client began to have too much unread data. */
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
    // A comment shows the client that it is connected before the first event.
    this.push(COMMENT);
    live.start(this);
    if (asksWhenListening(ctx.exchange)) inBackground(this.#tellListening());
    // This is last, because a process that is shutting down ends the stream here.
    ctx.services.connections.add(this);
  }

  get identity(): Identity {
    return this.#ctx.identity;
  }

  next(text: string, position?: string): Promise<void> | undefined {
    if (this.readableLength > this.#options.maxBuffered) {
      this.destroy();
      return undefined;
    }
    if (this.push(eventOf("next", text, position))) return undefined;
    if (this.#drained === null) {
      this.#drained = Promise.withResolvers();
      this.#stalledAt = this.#ctx.services.clock.monotonic();
    }
    return this.#drained.promise;
  }

  position(position: string): void {
    if (!this.#isOver) this.push(`id: ${position}\n\n`);
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
    // Comments must not fill the buffer of a client that does not read.
    if (this.readableLength > 0) return;
    this.push(COMMENT);
    this.#live.keepYoung?.();
  }

  recheck(): Promise<void> {
    return recheck(this.#ctx, [this.#live]);
  }

  /** Does not send `complete`: the client should reconnect, with another credential or to another process. */
  end(): void {
    if (this.#isOver) return;
    inBackground(this.#live.leave());
    this.#finish();
  }

  cut(): void {
    this.destroy();
  }

  /** Destroys the stream after a while if the client does not read the rest. */
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
    inBackground(this.#live.leave());
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

// Without a data line, clients do not dispatch the event.
function eventOf(name: string, data: string, id?: string): string {
  return `event: ${name}\n${id === undefined ? "" : `id: ${id}\n`}data: ${data}\n\n`;
}
