import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { pendingResponse } from "./pending-response.ts";

/** The number of requests on one connection that may wait for earlier responses. */
const MOST_WAITING = 64;

interface Waiting {
  count: number;
  last: ServerResponse;
}

const waiting = new WeakMap<Socket, Waiting>();

/**
 * Runs the request when the responses before it on its connection have been sent. Node would run all of them at once and buffer
 * their responses, so a client that sends a hundred requests in one packet and reads nothing would hold a hundred pages in
 * memory. Returns `false` if too many are waiting already: the caller then rejects the request.
 */
export function runInOrder(request: IncomingMessage, response: ServerResponse, run: () => void): boolean {
  const { socket } = request;
  const first = pendingResponse(socket);
  // Node assigns the connection only to the first response.
  if (response.socket !== null || first === null) {
    run();
    return true;
  }
  const queue = waiting.get(socket) ?? { count: 0, last: first };
  waiting.set(socket, queue);
  const previous = queue.count === 0 ? first : queue.last;
  queue.last = response;
  if (queue.count >= MOST_WAITING) return false;
  queue.count++;
  previous.once("close", () => {
    queue.count--;
    if (!socket.destroyed) run();
  });
  return true;
}
