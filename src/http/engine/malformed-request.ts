import type { Socket } from "node:net";
import { nodeHttp } from "../../core/node-http.ts";
import { pendingResponse } from "./pending-response.ts";

/** Responds to bytes that are not a valid HTTP request, or did not arrive in time. There is no request object yet, only a connection. */
export function malformedRequest(error: Error & { readonly code?: string }, socket: Socket): void {
  // The client has disconnected and cannot read a response.
  if (error.code === "ECONNRESET" || socket.destroyed || !socket.writable) {
    socket.destroy();
    return;
  }
  const pending = pendingResponse(socket);
  if (pending?.req.complete === true) {
    // The client disconnected in the middle of a request. Between two requests, Node itself ends the connection.
    if (socket.readableEnded) socket.end();
    else if (!waiting.has(socket)) {
      waiting.add(socket);
      pending.once("close", () => {
        waiting.delete(socket);
        malformedRequest(error, socket);
      });
    }
    return;
  }
  if (pending?.headersSent === true) {
    // This response was sent before its request had fully arrived. A second one must not get into it, and it may wait for the rest.
    if (!pending.writableEnded) socket.destroy();
    return;
  }
  const [status, code, detail] = RESPONSES[error.code ?? ""] ?? [400, "bad_request", "The request is not valid HTTP"];
  const title = nodeHttp.STATUS_CODES[status] as string;
  const body = JSON.stringify({ type: "about:blank", title, status, detail, code });
  const head = `HTTP/1.1 ${status} ${title}\r\ncontent-type: application/problem+json; charset=utf-8\r\ncontent-length: ${Buffer.byteLength(body)}\r\nx-content-type-options: nosniff\r\nconnection: close\r\n\r\n`;
  socket.end(head + body, () => socket.destroy());
}

/** Connections on which the response to an earlier request comes first. Node reports every further malformed piece again. */
const waiting = new WeakSet<Socket>();

const RESPONSES: Readonly<Record<string, readonly [status: number, code: string, detail: string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, "request_timeout", "The request did not arrive in time"],
  HPE_HEADER_OVERFLOW: [431, "headers_too_large", "The headers are too large"],
};
