import { type BaseContext, WebSocketContext } from "./http-context.ts";

/** The header by which a test asks to be told, by a comment in the stream, when its subscription listens to the bus. */
export const TELL_LISTENING = "x-portico-tell-listening";
/** What it is told. */
export const LISTENING = ": listening";

const subscribed = new WeakSet<BaseContext>();
const waiting = new WeakMap<BaseContext, PromiseWithResolvers<void>>();

/** Something that runs on this connection has subscribed to the bus. Nobody asks that of a socket: ten thousand of them hold nothing here. */
export function noteSubscribed(connection: BaseContext): void {
  if (connection instanceof WebSocketContext) return;
  subscribed.add(connection);
  waiting.get(connection)?.resolve();
}

/** Resolves when something on this connection has subscribed to the bus, and that holds for other processes too. */
export async function whenListening(connection: BaseContext): Promise<void> {
  if (!subscribed.has(connection)) {
    const subscribing = waiting.get(connection) ?? Promise.withResolvers<void>();
    waiting.set(connection, subscribing);
    await subscribing.promise;
  }
  await connection.services.stores.bus.settled();
}
