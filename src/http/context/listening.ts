import { type BaseContext, WebSocketContext } from "./http-context.ts";

/** A test sends this header to receive a comment in the stream once its subscription is active on the bus. */
export const TELL_LISTENING = "x-portico-tell-listening";
/** The comment that it receives. */
export const LISTENING = ": listening";

const subscribed = new WeakSet<BaseContext>();
const waiting = new WeakMap<BaseContext, PromiseWithResolvers<void>>();

/**
 * Records that something on this connection has subscribed to the bus. Sockets are skipped: no test waits for them, and ten
 * thousand of them must not hold anything here.
 */
export function noteSubscribed(connection: BaseContext): void {
  if (connection instanceof WebSocketContext) return;
  subscribed.add(connection);
  waiting.get(connection)?.resolve();
}

/** Resolves when something on this connection has subscribed to the bus, and the subscription is active in other processes too. */
export async function whenListening(connection: BaseContext): Promise<void> {
  if (!subscribed.has(connection)) {
    const subscribing = waiting.get(connection) ?? Promise.withResolvers<void>();
    waiting.set(connection, subscribing);
    await subscribing.promise;
  }
  await connection.services.stores.bus.settled();
}
