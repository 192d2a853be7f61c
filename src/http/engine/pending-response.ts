import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";

/** The response that is currently being sent on a connection, until it has been written. */
export function pendingResponse(connection: Duplex): ServerResponse | null {
  // Node's own name for it, which its own handling of malformed requests reads too.
  // oxlint-disable-next-line no-underscore-dangle
  return (connection as { readonly _httpMessage?: ServerResponse | null })._httpMessage ?? null;
}

/**
 * Calls back when every pending response has been written to a connection that Node has handed over, as it does with an
 * upgrade. It never calls back if the connection closes before. Anything that the client sends meanwhile is discarded.
 */
export function afterResponses(connection: Duplex, done: () => void): void {
  const advance = (): void => {
    const pending = pendingResponse(connection);
    if (pending !== null) {
      pending.once("close", advance);
      return;
    }
    // The last response may have closed the connection, at the request of the client or the application.
    if (connection.writable) done();
  };
  connection.once("end", () => connection.end());
  connection.resume();
  advance();
}

/** Responses behind a pending one, by connection, so that one listener serves all of them. */
const queued = new WeakMap<Socket, Set<ServerResponse>>();

/** The responses that wait for their turn on a connection, in order. */
export function queuedResponses(connection: Socket): ReadonlySet<ServerResponse> | undefined {
  return queued.get(connection);
}

/** Closes a response that waits for its turn together with its connection, which Node forgets after an upgrade. */
export function closeWithConnection(response: ServerResponse, connection: Socket): void {
  const responses = queued.get(connection) ?? new Set();
  if (!queued.has(connection)) connection.once("close", () => responses.forEach(close));
  queued.set(connection, responses.add(response));
  const remove = (): void => {
    responses.delete(response);
  };
  // From then on, Node itself closes it with its connection.
  response.once("socket", remove).once("close", remove);
  if (connection.destroyed) process.nextTick(close, response);
}

function close(response: ServerResponse): void {
  if (response.destroyed) return;
  response.destroyed = true;
  response.emit("close");
}
