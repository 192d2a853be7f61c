import { LISTENING } from "../kernel/events/listening.ts";
import { type GraphResult, parseResult } from "./graph-result.ts";
import type { OpenResponse } from "./test-request.ts";

/** The events of a subscription, read in a loop or one by one. Leaving the loop ends the subscription. */
export interface GraphEvents<Data = Readonly<Record<string, unknown>>>
  extends AsyncIterableIterator<GraphResult<Data>, void, void> {
  next(): Promise<IteratorResult<GraphResult<Data>, void>>;
  /** Ends the subscription, even while a `next()` is waiting. */
  return(): Promise<IteratorResult<GraphResult<Data>, void>>;
  [Symbol.asyncIterator](): GraphEvents<Data>;
  /**
   * Sends the request and resolves once the subscription receives everything published from then on, also by other
   * processes: its generator has subscribed to `ctx.pubsub`. It also resolves on an event, an error or the end, because
   * then there is something to read.
   */
  ready(): Promise<void>;
}

/** A result, or the notice that the subscription is listening. */
type Frame<Data> = GraphResult<Data> | typeof LISTENING;

/**
 * Reads a stream of results. A rejected operation has one result. The request is sent by the first `next()` or
 * `ready()`.
 */
export class EventReader<Data> implements GraphEvents<Data> {
  readonly #open: () => Promise<OpenResponse>;
  readonly #frames: AsyncGenerator<Frame<Data>, void, void>;
  readonly #ready: PromiseWithResolvers<void> = Promise.withResolvers();
  #body: OpenResponse["body"] | null = null;
  /** The frame that `ready` has read ahead. */
  #ahead: Promise<IteratorResult<Frame<Data>, void>> | null = null;
  #isSent = false;
  #isLeft = false;

  constructor(open: () => Promise<OpenResponse>) {
    this.#open = open;
    this.#frames = this.#read();
    // `next()` rejects with the same error, so an unused `ready` must not crash the test.
    this.#ready.promise.catch(() => {});
  }

  ready(): Promise<void> {
    if (!this.#isSent) this.#ahead = this.#frame();
    return this.#ready.promise;
  }

  async next(): Promise<IteratorResult<GraphResult<Data>, void>> {
    for (;;) {
      const coming = this.#ahead ?? this.#frame();
      this.#ahead = null;
      const { done, value } = await coming;
      if (done === true) return { done, value };
      if (value !== LISTENING) return { done: false, value };
    }
  }

  async return(): Promise<IteratorResult<GraphResult<Data>, void>> {
    this.#isLeft = true;
    this.#body?.destroy();
    await this.#frames.return();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #frame(): Promise<IteratorResult<Frame<Data>, void>> {
    this.#isSent = true;
    const frame = this.#frames.next();
    frame.then(() => this.#ready.resolve(), this.#ready.reject);
    return frame;
  }

  async *#read(): AsyncGenerator<Frame<Data>, void, void> {
    const { status, headers, body } = await this.#open();
    this.#body = body;
    try {
      const isStream = String(headers["content-type"]).startsWith("text/event-stream");
      if (!isStream) return yield parseResult(status, Buffer.concat(await body.toArray()).toString("utf8"));
      let unread = "";
      for await (const chunk of body.setEncoding("utf8")) {
        const events = (unread + String(chunk)).split("\n\n");
        unread = events.pop() ?? "";
        for (const event of events) {
          if (event.startsWith("event: complete")) return;
          if (event === LISTENING) yield LISTENING;
          const data = /^data: (.*)$/m.exec(event)?.[1];
          if (data !== undefined) yield JSON.parse(data) as GraphResult<Data>;
        }
      }
    } catch (error) {
      if (!this.#isLeft) throw error;
    } finally {
      body.destroy();
    }
  }
}
