import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { closeAfter } from "./drop-unread-body.ts";
import { closeWithConnection, pendingResponse, queuedResponses } from "./pending-response.ts";

/** The number of requests on one connection that may wait for earlier responses. */
const MAX_WAITING = 64;
/** While so many wait, the connection is not read, so that only requests which Node has read already are added. */
const PAUSED_FROM = 16;

/** Connections that are closed after their accepted responses. */
const full = new WeakSet<Socket>();

/**
 * Accepts a request behind others on its connection. Returns `false` if too many wait already: the request must then be dropped
 * without a response, and the connection is closed after the accepted ones. With a response for each, a client that reads
 * nothing could fill the event loop and the memory with rejections. A second call for a request has no effect.
 */
export function joinPipeline(request: IncomingMessage, response: ServerResponse): boolean {
  const { socket } = request;
  // Node assigns the connection only to the first response.
  if (response.socket !== null || pendingResponse(socket) === null) return true;
  const waiting = queuedResponses(socket);
  if (waiting?.has(response) === true) return true;
  if (full.has(socket)) return false;
  if (waiting !== undefined && waiting.size >= MAX_WAITING) {
    full.add(socket);
    regulate(socket);
    dropRest(socket);
    closeAfter([...waiting].at(-1) as ServerResponse, socket);
    return false;
  }
  closeWithConnection(response, socket);
  if ((queuedResponses(socket)?.size ?? 0) < PAUSED_FROM) return true;
  regulate(socket);
  response.once("socket", () => regulate(socket));
  return true;
}

/**
 * Node parses all requests of a packet at once, up to 64 kB, and keeps each with its response until the connection closes. The
 * rest of them is dropped as soon as it is parsed.
 */
function dropRest(socket: Socket): void {
  const { parser } = socket as { readonly parser?: { onIncoming: () => number } | null };
  if (parser) parser.onIncoming = () => 0;
}

/** Node resumes the connection one tick after each request that it has read, and each response. */
function regulate(socket: Socket): void {
  process.nextTick(() => process.nextTick(pauseOrResume, socket));
}

function pauseOrResume(socket: Socket): void {
  if (full.has(socket) || (queuedResponses(socket)?.size ?? 0) >= PAUSED_FROM) socket.pause();
  else socket.resume();
}

/**
 * Runs the request when the responses before it on its connection have been sent. Node would run all of them at once and buffer
 * their responses, so a client that sends a hundred requests in one packet and reads nothing would hold a hundred pages in
 * memory.
 */
export function runInOrder(request: IncomingMessage, response: ServerResponse, run: () => void): void {
  const { socket } = request;
  if (response.socket !== null || pendingResponse(socket) === null) return run();
  // Node flushes the response right after this event.
  response.once("socket", () => process.nextTick(runUnlessClosed, socket, run));
}

function runUnlessClosed(socket: Socket, run: () => void): void {
  if (!socket.destroyed) run();
}
