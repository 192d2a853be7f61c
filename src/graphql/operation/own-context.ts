import { publishFrom } from "../../http/context/event-hold.ts";
import type { BaseContext, Outcome } from "../../http/context/http-context.ts";
import { noteSubscribed } from "../../http/context/listening.ts";
import type { PubSub } from "../../stores/pub-sub.ts";

/** A context of its own for one of several operations of a connection. */
export interface OwnContext {
  readonly ctx: BaseContext;
  settle(outcome: "success" | "failure"): void;
  /** Ends what the operation listens to. */
  abort(): void;
  /** Whether it was aborted, or its connection is gone. */
  readonly isOver: boolean;
  /** Calls back when it is aborted, or its connection is gone; gives what ends that. */
  watch(giveUp: () => void): () => void;
}

/**
 * A batch, a socket and a subscription run several operations over one connection, each with an outcome and values of its
 * own. This is the connection's context in everything else: a header that is set reaches the answer, `instanceof` holds.
 */
export function ownContext(connection: BaseContext): OwnContext {
  return new ConnectionsOperation(connection);
}

class ConnectionsOperation implements OwnContext {
  readonly ctx: BaseContext;
  readonly #connection: BaseContext;
  #outcome: Outcome = "pending";
  #isAborted = false;
  #giveUp: (() => void) | null = null;
  // Made when somebody asks for them: most operations never do, and there is one for every event.
  #controller: AbortController | null = null;
  /** Ends what ties its signal to the connection. */
  #untie: (() => void) | null = null;

  constructor(connection: BaseContext) {
    this.#connection = connection;
    // The context keeps its state in private fields: they are read on the connection itself, never on the proxy.
    this.ctx = new Proxy(connection, {
      get: (target, key) => {
        if (key === "outcome") return this.#outcome;
        if (key === "signal") return this.#signal;
        if (key === "pubsub") return boundTo(this.ctx, target, () => this.#ending);
        return Reflect.get(target, key, target) as unknown;
      },
    });
  }

  settle(outcome: "success" | "failure"): void {
    if (this.#outcome === "pending") this.#outcome = outcome;
    // The connection may last for days: it does not hold the listeners of what is over.
    this.#untie?.();
  }

  abort(): void {
    if (this.#isAborted) return;
    this.#isAborted = true;
    this.#controller?.abort(over());
    this.#giveUp?.();
  }

  get isOver(): boolean {
    return this.#isAborted || this.#connection.signal.aborted;
  }

  watch(giveUp: () => void): () => void {
    this.#giveUp = giveUp;
    if (this.#isAborted) giveUp();
    const unwatch = watchSignal(this.#connection.signal, giveUp);
    return () => {
      this.#giveUp = null;
      unwatch();
    };
  }

  get #signal(): AbortSignal {
    const ending = this.#ending;
    const { signal } = this.#connection;
    if (this.#outcome === "pending") this.#untie ??= watchSignal(signal, () => this.#controller?.abort(signal.reason));
    return ending;
  }

  get #ending(): AbortSignal {
    if (this.#controller === null) {
      this.#controller = new AbortController();
      if (this.#isAborted) this.#controller.abort(over());
    }
    return this.#controller.signal;
  }
}

/** Calls back when the signal is aborted, or has been. */
export function watchSignal(signal: AbortSignal, giveUp: () => void): () => void {
  if (signal.aborted) giveUp();
  else signal.addEventListener("abort", giveUp);
  return () => signal.removeEventListener("abort", giveUp);
}

function over(): DOMException {
  return new DOMException("The operation has ended", "AbortError");
}

/** A generator that waits for the next event cannot be told to return: its subscription ends with the operation instead. */
function boundTo(ctx: BaseContext, connection: BaseContext, end: () => AbortSignal): PubSub {
  const { bus } = connection.services.stores;
  return {
    publish: (topic, value) => publishFrom(ctx, bus, topic, value),
    subscribe: (topic, options) => {
      const events = bus.subscribe(topic, {
        signal: options?.signal === undefined ? end() : AbortSignal.any([options.signal, end()]),
      });
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
