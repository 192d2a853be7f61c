import { AsyncLocalStorage } from "node:async_hooks";
import type { BaseContext } from "./http-context.ts";

const storage = new AsyncLocalStorage<BaseContext>();

/**
 * The context of the request that this code runs for; `null` outside a request.
 *
 * @example
 * ```ts
 * import { currentContext } from "portico";
 *
 * function audit(action: string) {
 *   console.log(action, "by", currentContext()?.user.identity ?? "the system");
 * }
 * ```
 */
export function currentContext(): BaseContext | null {
  return storage.getStore() ?? null;
}

/** Runs `call` with `ctx` as the current context, including everything that it starts. */
export function withContext<C extends BaseContext, R>(ctx: C, call: (ctx: C) => R): R {
  return storage.run(ctx, call, ctx);
}
