import type { BaseContext } from "../../http/context/context.ts";
import { openOperation } from "../operation/operation.ts";
import type { LiveSubscription } from "./live-subscription.ts";

/**
 * Asks the gates of what runs on a connection again, and ends what they refuse now. All of them in one operation of its own: a
 * gate of the user is asked once, what loaders load is loaded together, and nothing is kept from the last time.
 */
export async function recheck(ctx: BaseContext, running: readonly LiveSubscription[]): Promise<void> {
  const operation = openOperation(ctx);
  await operation.enter(() => Promise.all(running.map(async (live) => live.recheck?.(operation.contextValue))));
  await operation.close("success");
}
