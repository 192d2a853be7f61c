import { finished, type Readable } from "node:stream";
import type { BaseContext } from "../../kernel/context/http-context.ts";
import { logUnexpected } from "../../kernel/context/log-failure.ts";

/**
 * Follows a streamed response to its end, and reports whether it failed and whether an error response replaces it. A client
 * that disconnects is not a failure, nor is a stream that was closed without an error. A stream that fails after its first byte
 * can only be cut off, and the reason is logged. Before that, it gets an error response like any other error.
 */
export function watchStream(
  ctx: BaseContext,
  stream: Readable,
  ended: (isFailed: boolean, isReplaced: boolean) => void,
): void {
  const { exchange, services } = ctx;
  let isClientGone = false;
  // Work that is aborted because the client disconnected may well throw.
  exchange.onAbort(() => {
    isClientGone = true;
  });
  finished(stream, { writable: false }, () => {
    const isFailed = stream.errored !== null && !isClientGone;
    const isCut = isFailed && exchange.breakOff(stream.errored);
    if (isCut) logUnexpected(services, exchange, stream.errored);
    ended(isFailed, isFailed && !isCut && !exchange.isGone);
  });
}
