import { loggable, toError } from "../describe-error.ts";
import type { Logger } from "../logger.ts";
import { isPromise } from "../maybe-promise.ts";

/**
 * Lets work go on that nothing waits for. A rejection, which would end the process, goes to the log, or becomes a warning of the
 * process where there is none. Lint rejects `void call()`, so every call that is not awaited passes through here.
 */
export function inBackground(work: unknown, log?: Pick<Logger, "error">): void {
  if (!isPromise(work)) return;
  work.then(undefined, (error: unknown) => {
    if (log === undefined) process.emitWarning(toError(error));
    else log.error({ err: loggable(error) }, "unexpected error in the background");
  });
}
