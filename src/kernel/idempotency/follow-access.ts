import { setTimeout as sleep } from "node:timers/promises";
import { loggable } from "../../core/describe-error.ts";
import type { Logger } from "../../core/logger.ts";
import type { PubSub } from "../../stores/pub-sub.ts";
import { userChanged } from "../identity/user-changed.ts";
import type { ResponseStore } from "./response-store.ts";

/** How soon to subscribe again after the bus failed. */
const RETRY_MS = 1_000;

/**
 * Notes in the tables of stored responses whose access changes, until the signal aborts, so that a retry does not show
 * what the caller may no longer read. After a gap in the bus, any user may have changed.
 */
export async function followAccess(
  stores: readonly ResponseStore[],
  bus: PubSub,
  log: Pick<Logger, "warn">,
  signal: AbortSignal,
): Promise<void> {
  const note = (user: string | null): Promise<unknown> => Promise.all(stores.map((store) => store.accessChanged(user)));
  let hasGap = false;
  while (!signal.aborted) {
    try {
      if (hasGap) await note(null);
      for await (const { user } of bus.subscribe(userChanged, { signal })) await note(user);
    } catch (err) {
      if (signal.aborted) return;
      log.warn(
        { err: loggable(err) },
        "changes of access could not be followed, so stored responses are not sent again",
      );
    }
    hasGap = true;
    // A bus that is closed ends every subscription at once, without an error.
    await sleep(RETRY_MS, undefined, { ref: false, signal }).catch(() => {});
  }
}
