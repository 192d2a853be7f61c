import type { Gate } from "../access/gate.ts";
import type { BaseContext } from "./http-context.ts";

/** How `ctx.authorize` refuses an object. */
export interface AuthorizeOptions {
  /** 403 tells the caller that the object exists. @default 404 */
  readonly status?: 403 | 404;
}

/** The decisions that a context asks for: `authorize` and `can` of `kernel/access/authorize.ts`. */
export interface Decisions {
  authorize<T>(
    ctx: BaseContext,
    gate: Gate<boolean, any, never>,
    object: T,
    options: AuthorizeOptions,
  ): Promise<NonNullable<T>>;
  can(ctx: BaseContext, gate: Gate<boolean, any, never>, object: unknown): Promise<boolean>;
}
