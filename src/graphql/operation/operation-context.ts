import { Checks } from "../../kernel/context/checks.ts";
import { type BaseContext, type Outcome, placeOf } from "../../kernel/context/http-context.ts";
import { eachAnew } from "../../kernel/context/memo-of.ts";
import { publishFrom } from "../../kernel/events/event-hold.ts";
import { noteSubscribed } from "../../kernel/events/listening.ts";
import type { PubSub } from "../../stores/pub-sub.ts";

/** The context of one of several operations on a connection. */
export interface SeparateContext {
  readonly ctx: BaseContext;
  settle(outcome: "success" | "failure"): void;
  /** Ends the subscriptions of the operation to the bus. */
  abort(): void;
  /** Whether it was aborted or its connection is closed. */
  readonly isOver: boolean;
  /** Calls back when it is aborted or its connection closes. Returns a function that stops watching. */
  watch(giveUp: () => void): () => void;
}

/**
 * Creates a context with a separate outcome and signal, because a batch, a socket and a subscription run several operations
 * over one connection. It delegates everything else to the connection's context: headers reach the response, and
 * `instanceof` works.
 *
 * @param followsEvents whether the operation is a subscription or an event of one
 */
export function operationContext(connection: BaseContext, followsEvents: boolean): SeparateContext {
  return new ConnectionsOperation(connection, followsEvents);
}

class ConnectionsOperation implements SeparateContext {
  readonly ctx: BaseContext;
  readonly #connection: BaseContext;
  #followsEvents: boolean;
  #outcome: Outcome = "pending";
  #isAborted = false;
  #checks: Checks | null = null;
  #giveUp: (() => void) | null = null;
  // Created on demand, because most operations never use it and there is one operation per event.
  #controller: AbortController | null = null;
  /** Removes the listener that forwards the signal of the connection. */
  #untie: (() => void) | null = null;

  constructor(connection: BaseContext, followsEvents: boolean) {
    this.#connection = connection;
    this.#followsEvents = followsEvents;
    // The context has private fields, which can be read on the connection itself but not on the proxy.
    this.ctx = new Proxy(connection, {
      get: (target, key) => {
        if (key === "outcome") return this.#outcome;
        if (key === "signal") return this.#signal;
        if (key === "followsEvents") return this.#followsEvents;
        if (key === "checks") return (this.#checks ??= new Checks());
        if (key === "forgottenCheck") return this.#checks?.take(placeOf(connection)) ?? null;
        if (key === "pubsub") return boundTo(this.ctx, target, () => this.#beginFollowing());
        return Reflect.get(target, key, target) as unknown;
      },
    });
  }

  settle(outcome: "success" | "failure"): void {
    if (this.#outcome === "pending") this.#outcome = outcome;
    // The connection may last for days, so it must not keep listeners of operations that have ended.
    this.#untie?.();
  }

  abort(): void {
    if (this.#isAborted) return;
    this.#isAborted = true;
    this.#controller?.abort(over());
    this.#giveUp?.();
  }

  get isOver(): boolean {
    return this.#isAborted || this.#connection.isAborted;
  }

  watch(giveUp: () => void): () => void {
    this.#giveUp = giveUp;
    if (this.#isAborted) giveUp();
    const unwatch = this.#connection.watchAbort(giveUp);
    return () => {
      this.#giveUp = null;
      unwatch();
    };
  }

  get #signal(): AbortSignal {
    const ending = this.#ending;
    if (this.#outcome === "pending")
      this.#untie ??= this.#connection.watchAbort((reason) => this.#controller?.abort(reason));
    return ending;
  }

  #beginFollowing(): AbortSignal {
    this.#followsEvents = true;
    return this.#ending;
  }

  get #ending(): AbortSignal {
    if (this.#controller === null) {
      this.#controller = new AbortController();
      if (this.#isAborted) this.#controller.abort(over());
    }
    return this.#controller.signal;
  }
}

function over(): DOMException {
  return new DOMException("The operation has ended", "AbortError");
}

/**
 * Ends subscriptions with the operation, because `return()` does not reach a generator that is waiting for an event.
 *
 * @param begin is called by each subscription, and returns the signal that ends it
 */
function boundTo(ctx: BaseContext, connection: BaseContext, begin: () => AbortSignal): PubSub {
  const { bus } = connection.services.stores;
  return {
    publish: (topic, value) => publishFrom(ctx, bus, topic, value),
    subscribe: (topic, options) => {
      const end = begin();
      const signal = options?.signal === undefined ? end : AbortSignal.any([options.signal, end]);
      const events = eachAnew(ctx, bus.subscribe(topic, { signal }));
      return {
        [Symbol.asyncIterator]() {
          const iterator = events[Symbol.asyncIterator]();
          noteSubscribed(connection);
          return iterator;
        },
      };
    },
    settled: () => bus.settled(),
  };
}
