import type { Duplex } from "node:stream";
import { pendingResponse } from "./pending-response.ts";

/** The connections of a server. */
const connections = new WeakMap<object, Set<Duplex>>();

/**
 * Takes over a connection that Node has handed over with an upgrade, for as long as it carries plain responses. Node no longer
 * tells these responses when to continue writing or that they have stalled, and `closeAllConnections()` does not know the
 * connection. Returns a function that ends this, for a connection that becomes a WebSocket.
 */
export function takeOver(server: object, connection: Duplex): () => void {
  const open = connections.get(server) ?? new Set();
  connections.set(server, open.add(connection));
  const release = (): void => {
    open.delete(connection);
    connection.off("drain", onDrain).off("timeout", onTimeout).off("close", release);
  };
  connection.on("drain", onDrain).on("timeout", onTimeout).on("close", release);
  return release;
}

/** Closes the connections of a server that still carry plain responses. */
export function cutHandedOver(server: object): void {
  for (const connection of connections.get(server) ?? []) connection.destroy();
}

function onDrain(this: Duplex): void {
  pendingResponse(this)?.emit("drain");
}

function onTimeout(this: Duplex): void {
  pendingResponse(this)?.emit("timeout");
}
