import type { IncomingMessage, ServerResponse } from "node:http";

/** An unread body up to this length is taken in, to keep the connection. */
const DRAINED_BYTES = 65_536;
/** What the client still sends after its answer is taken in this long, then the connection is cut. */
const GRACE_MS = 250;

/**
 * Sees to a body that the client still sends and nobody will read, before its answer leaves: Node would take in the rest,
 * however long, to keep the connection. Gives whether so much is left that the connection is not worth keeping.
 */
export function dropUnreadBody(request: IncomingMessage, response: ServerResponse): boolean {
  if (!isUnread(request)) return false;
  const isLong = !(Number(request.headers["content-length"]) <= DRAINED_BYTES);
  if (isLong) keepAnswer(request);
  response.once("finish", () => {
    if (isLong) request.pause();
    setTimeout(() => {
      if (isUnread(request)) request.destroy();
    }, GRACE_MS).unref();
  });
  return isLong;
}

/**
 * Node closes such a connection the moment its answer is written; with bytes unread in it, that is a reset, and the client
 * never sees the answer. Half closed, it can read it; the timer does the rest.
 */
function keepAnswer({ socket }: IncomingMessage): void {
  socket.destroySoon = () => void socket.end();
}

function isUnread({ complete, readableEnded, headers }: IncomingMessage): boolean {
  if (complete || readableEnded) return false;
  return headers["content-length"] !== undefined || headers["transfer-encoding"] !== undefined;
}
