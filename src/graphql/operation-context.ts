import type { BaseContext, Outcome } from "../http/context.ts";
import type { PubSub } from "../stores/pub-sub.ts";

/** A context of its own for one of several operations of a connection. */
export interface OperationContext {
  readonly ctx: BaseContext;
  settle(outcome: "success" | "failure"): void;
  /** Ends what the operation listens to. */
  abort(): void;
}

/**
 * A batch, a socket and a subscription run several operations over one connection, each with an outcome and values of its
 * own. This is the connection's context in everything else: a header that is set reaches the answer, `instanceof` holds.
 */
export function operationContext(connection: BaseContext): OperationContext {
  let outcome: Outcome = "pending";
  const abort = new AbortController();
  let signal: AbortSignal | null = null;
  const own: Readonly<Record<PropertyKey, () => unknown>> = {
    outcome: () => outcome,
    signal: () => {
      signal ??= AbortSignal.any([connection.signal, abort.signal]);
      return signal;
    },
    pubsub: () => boundTo(connection.pubsub, abort.signal),
  };
  // The context keeps its state in private fields: they are read on the connection itself, never on the proxy.
  const ctx = new Proxy(connection, {
    get: (target, key) => (Object.hasOwn(own, key) ? own[key as string]?.() : Reflect.get(target, key, target)),
  });
  return {
    ctx,
    settle: (ended) => {
      if (outcome === "pending") outcome = ended;
    },
    abort: () => abort.abort(new DOMException("The operation is over", "AbortError")),
  };
}

/** A generator that waits for the next event cannot be told to return: its subscription ends with the operation instead. */
function boundTo(bus: PubSub, end: AbortSignal): PubSub {
  return {
    publish: (topic, value) => bus.publish(topic, value),
    subscribe: (topic, options) =>
      bus.subscribe(topic, { signal: options?.signal === undefined ? end : AbortSignal.any([options.signal, end]) }),
  };
}
