import type { IncomingHttpHeaders } from "node:http";
import { isProduction } from "../../core/env.ts";
import type { PubSub } from "../../stores/pub-sub.ts";

/** A connection that may follow events. */
interface Connection {
  readonly services: { readonly stores: { readonly bus: PubSub } };
}

/** A test sends this header to receive a comment in the stream once its subscription is active on the bus. Ignored in production. */
export const TELL_LISTENING = "x-portico-tell-listening";
/** The comment that it receives. */
export const LISTENING = ": listening";

const subscribed = new WeakSet<Connection>();
const waiting = new WeakMap<Connection, PromiseWithResolvers<void>>();

/** Whether the client of a stream is a test that waits until its subscription is active. */
export function asksWhenListening({ headers }: { readonly headers: IncomingHttpHeaders }): boolean {
  return headers[TELL_LISTENING] !== undefined && !isProduction();
}

/** Records that something on this connection has subscribed to the bus. */
export function noteSubscribed(connection: Connection): void {
  if (isProduction()) return;
  subscribed.add(connection);
  waiting.get(connection)?.resolve();
}

/** Resolves when something on this connection has subscribed to the bus, and the subscription is active in other processes too. */
export async function whenListening(connection: Connection): Promise<void> {
  if (!subscribed.has(connection)) {
    const subscribing = waiting.get(connection) ?? Promise.withResolvers<void>();
    waiting.set(connection, subscribing);
    await subscribing.promise;
  }
  await connection.services.stores.bus.settled();
}
