import type { ServerResponse } from "node:http";
import { finished, type Readable } from "node:stream";

/** Names and values in turn. */
export type HeaderList = (string | readonly string[])[];

/** Sets a header of a list, also if the list has it already. */
export function setHeader(headers: HeaderList, name: string, value: string): void {
  const at = positionOf(headers, name);
  if (at === -1) headers.push(name, value);
  else headers[at + 1] = value;
}

/** Writes a response with its headers, in one packet if it is short. */
export function writeResponse(
  response: ServerResponse,
  status: number,
  headers: HeaderList,
  payload: string | Uint8Array | null,
): void {
  if (!hasBody(status)) return writeHeaders(response, status, payload === null ? headers : withoutContent(headers));
  const isHead = response.req.method === "HEAD";
  // For HEAD, a handler without a body may state the length that GET would have.
  if (payload !== null || !isHead)
    setHeader(headers, "content-length", payload === null ? "0" : String(Buffer.byteLength(payload)));
  response.writeHead(status, headers as string[]);
  // Node would ignore it too, but not the response of an injected request.
  response.end(isHead ? null : payload);
}

/**
 * Writes a response from a stream. The headers are sent with the first byte, so until then `fail` can still send another
 * response. The stream is destroyed when the client disconnects.
 */
export function writeStream(
  response: ServerResponse,
  status: number,
  headers: HeaderList,
  stream: Readable,
  fail: (error: Error) => void,
): void {
  if (!hasBody(status)) {
    stream.destroy();
    return writeHeaders(response, status, withoutContent(headers));
  }
  response.statusCode = status;
  for (let at = 0; at < headers.length; at += 2) response.setHeader(headers[at] as string, headers[at + 1] as string);
  let isOpen = true;
  finished(stream, { writable: false }, (error) => {
    isOpen = false;
    if (!error) return;
    if (response.headersSent || response.destroyed) {
      response.destroy();
      return;
    }
    for (let at = 0; at < headers.length; at += 2) response.removeHeader(headers[at] as string);
    fail(error);
  });
  finished(response, () => {
    if (isOpen) stream.destroy();
  });
  stream.pipe(response);
}

function writeHeaders(response: ServerResponse, status: number, headers: HeaderList): void {
  response.writeHead(status, headers as string[]);
  response.end();
}

/** Whether a response with this status can have a body. Handlers send none below 200. */
export function hasBody(status: number): boolean {
  return status !== 204 && status !== 304;
}

/** RFC 9110 section 8.6: a response that cannot have a body must not state its length. */
function withoutContent(headers: HeaderList): HeaderList {
  return headers.filter((_, at) => !describesBody(headers[at - (at % 2)]));
}

/** Whether the header with this name describes a body. */
export function describesBody(name: unknown): boolean {
  return name === "content-type" || name === "content-length";
}

function positionOf(headers: HeaderList, name: string): number {
  for (let at = headers.length - 2; at >= 0; at -= 2) if (headers[at] === name) return at;
  return -1;
}
