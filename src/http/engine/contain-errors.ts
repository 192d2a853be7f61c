import type { Duplex } from "node:stream";
import { loggable } from "../../core/describe-error.ts";
import type { Logger } from "../../core/logger.ts";
import { isPromise } from "../../core/maybe-promise.ts";

/**
 * Runs the handler of a server or socket event. An error thrown there would end the process; instead it is logged and the
 * connection is closed.
 */
export function containErrors(log: Logger, connection: Duplex, handle: () => void | Promise<void>): void {
  const fail = (err: unknown): void => {
    connection.destroy();
    log.error({ err: loggable(err) }, "closed a connection because its handler failed");
  };
  try {
    const handling = handle();
    if (isPromise(handling)) handling.then(undefined, fail);
  } catch (error) {
    fail(error);
  }
}
