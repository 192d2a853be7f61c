import type { MaybePromise } from "../../core/maybe-promise.ts";
import type { AuthScope, Caller, CurrentUser } from "../identity/identity.ts";
import type { BaseContext } from "./http-context.ts";

/** Decides just before the handler, before the body is read; its type arguments narrow what the handler sees. */
export interface Gate<out Required extends boolean = boolean, out Scope extends AuthScope = AuthScope> {
  /** Whether it lets nobody through only by throwing. */
  readonly required: Required;
  readonly scopes: readonly Scope[];
  /** Whether it judges by who is calling: where nothing finds that out, it never opens, and the log says so at the start. */
  readonly needsIdentity?: boolean;
  /** Returns to let the request in; throws an HTTP exception to refuse it. */
  check(ctx: BaseContext): MaybePromise<void>;
}
/** Whom a handler behind this gate sees. */
export type GateUser<G> = [G] extends [Gate<true, any>] ? CurrentUser : Caller;
/** Which scopes a handler behind this gate sees. */
export type GateScope<G> = [G] extends [Gate<infer R, infer S>] ? (R extends true ? S : S | null) : AuthScope | null;
