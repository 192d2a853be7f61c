import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** An unread body up to this length is taken in, to keep the connection. */
const DRAINED_BYTES = 65_536;
/** What the client still sends after its answer is taken in this long, then the connection is cut. */
const GRACE_MS = 250;

/**
 * Handles a body that the client still sends and that no handler will read, before the response leaves. Node would receive the
 * rest, however long, to keep the connection. Returns whether too much is left for the connection to be worth keeping.
 */
export function dropUnreadBody(request: IncomingMessage, response: ServerResponse): boolean {
  if (!isUnread(request)) return false;
  const isLong = !(Number(request.headers["content-length"]) <= DRAINED_BYTES);
  // A loop over `request.stream` that ends early takes the connection away from the request.
  const socket = (response.socket ?? request.socket) as Socket | null;
  if (isLong && socket !== null) keepResponse(socket);
  response.once("finish", () => {
    if (isLong) request.pause();
    setTimeout(() => {
      // A long body may have arrived since, but its connection is closed on one side and would stay so.
      if (isLong || isUnread(request)) socket?.destroy();
    }, GRACE_MS).unref();
  });
  return isLong;
}

/**
 * Node closes the connection as soon as the response is written. If bytes are unread, that resets it, and the client never
 * sees the response. While the connection is half closed, the client can read the response; the timer does the rest.
 */
function keepResponse(socket: Socket): void {
  socket.destroySoon = () => void socket.end();
}

function isUnread({ complete, readableEnded, headers }: IncomingMessage): boolean {
  if (complete || readableEnded) return false;
  return headers["content-length"] !== undefined || headers["transfer-encoding"] !== undefined;
}
