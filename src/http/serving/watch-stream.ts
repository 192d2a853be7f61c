import { finished, type Readable } from "node:stream";
import type { BaseContext } from "../context/http-context.ts";
import { logUnexpected } from "../context/render-problem.ts";

/**
 * Follows a streamed answer to its end, and says whether it failed. A client that leaves is no failure, and neither is a
 * stream that was closed without an error. One that fails after its first byte has left can only be cut off: the log alone
 * says why. Before that it is answered, and logged, like any other error.
 */
export function watchStream(ctx: BaseContext, stream: Readable, ended: (isFailed: boolean) => void): void {
  const { exchange, services } = ctx;
  let isClientGone = false;
  // What the client's leaving aborts may well throw.
  exchange.onAbort(() => {
    isClientGone = true;
  });
  finished(stream, { writable: false }, () => {
    const isFailed = stream.errored !== null && !isClientGone;
    if (isFailed && exchange.breakOff(stream.errored)) logUnexpected(services, exchange, stream.errored);
    ended(isFailed);
  });
}
