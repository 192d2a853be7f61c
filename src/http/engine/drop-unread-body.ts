import type { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";

/** An unread body up to this length is received, so that the connection can be kept. */
const DRAINED_BYTES = 65_536;
/** How long the rest of a body is received after the response, before the connection is cut. */
const GRACE_MS = 250;

/**
 * Handles a body that the client is still sending and that no handler will read, before the response is sent. Node would
 * receive the rest, however long, to keep the connection. Returns whether too much is left for the connection to be worth
 * keeping.
 */
export function dropUnreadBody(request: IncomingMessage, response: ServerResponse): boolean {
  if (!isUnread(request)) return false;
  const isLong = !(Number(request.headers["content-length"]) <= DRAINED_BYTES);
  // A loop over `request.stream` that ends early detaches the connection from the request.
  const socket: unknown = response.socket ?? request.socket;
  // An injected request has no connection.
  if (socket instanceof Socket) cutLater(socket, request, response, isLong);
  return isLong;
}

function cutLater(socket: Socket, request: IncomingMessage, response: ServerResponse, isLong: boolean): void {
  // A long body may have arrived since, but its connection is half closed and would stay so.
  if (isLong) return closeAfter(response, socket);
  response.once("finish", () => {
    setTimeout(() => {
      if (isUnread(request)) socket.destroy();
    }, GRACE_MS).unref();
  });
}

/** Reads nothing more from a connection and closes it after this response, so that the client can still read the response. */
export function closeAfter(response: ServerResponse, socket: Socket): void {
  keepResponse(socket);
  // Node announces it, if the headers are not sent yet.
  response.shouldKeepAlive = false;
  response.once("finish", () => {
    // Node resumes the connection right after this event, to discard the rest.
    process.nextTick(() => socket.pause());
    socket.destroySoon();
    setTimeout(() => socket.destroy(), GRACE_MS).unref();
  });
}

/**
 * Node closes the connection as soon as the response is written. With unread bytes that resets it, and the client never sees
 * the response. On a half-closed connection the client can read the response, and the timer closes the rest.
 */
function keepResponse(socket: Socket): void {
  socket.destroySoon = () => {
    socket.end();
  };
}

function isUnread({ complete, readableEnded, headers }: IncomingMessage): boolean {
  if (complete || readableEnded) return false;
  return headers["content-length"] !== undefined || headers["transfer-encoding"] !== undefined;
}
