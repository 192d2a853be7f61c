import { type ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";

/** Answers what is no HTTP request, or did not come in time: there is no request object yet, only a connection. */
export function malformedRequest(error: Error & { readonly code?: string }, socket: Socket): void {
  // The client broke the connection: nobody is there to read an answer.
  if (error.code === "ECONNRESET" || socket.destroyed || !socket.writable) {
    socket.destroy();
    return;
  }
  const earlier = answerUnderway(socket);
  if (earlier !== null) {
    // Nothing more is read: each further piece would be reported again.
    socket.pause();
    earlier.once("close", () => malformedRequest(error, socket));
    return;
  }
  const [status, code, detail] = ANSWERS[error.code ?? ""] ?? [400, "bad_request", "The request is not HTTP"];
  const title = STATUS_CODES[status] as string;
  const body = JSON.stringify({ type: "about:blank", title, status, detail, code });
  const head = `HTTP/1.1 ${status} ${title}\r\ncontent-type: application/problem+json; charset=utf-8\r\ncontent-length: ${Buffer.byteLength(body)}\r\nx-content-type-options: nosniff\r\nconnection: close\r\n\r\n`;
  socket.end(head + body, () => socket.destroySoon());
}

/** The answer to a request before this one, which arrived whole: what follows it must not take its place. */
function answerUnderway(socket: Socket): ServerResponse | null {
  // Node's own name for it, which its own answer to malformed requests reads too.
  // oxlint-disable-next-line no-underscore-dangle
  const answer = (socket as { readonly _httpMessage?: ServerResponse | null })._httpMessage ?? null;
  return answer?.req.complete === true ? answer : null;
}

const ANSWERS: Readonly<Record<string, readonly [status: number, code: string, detail: string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, "request_timeout", "The request did not arrive in time"],
  HPE_HEADER_OVERFLOW: [431, "headers_too_large", "The headers are too large"],
};
