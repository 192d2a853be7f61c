import type { MaybePromise } from "../../core/maybe-promise.ts";
import type { AuthScope, Caller, CurrentUser } from "../identity/identity.ts";
import type { BaseContext } from "./http-context.ts";

/** Decides just before the handler, before the body is read. Its type arguments narrow the handler's types. */
export interface Gate<out Required extends boolean = boolean, out Scope extends AuthScope = AuthScope> {
  /** Whether an anonymous caller is always rejected. */
  readonly required: Required;
  readonly scopes: readonly Scope[];
  /**
   * Whether it depends on the caller's identity. Without authentication such a gate never opens, and a warning is logged at
   * startup.
   */
  readonly needsIdentity?: boolean;
  /** Returns to accept the request; throws an HTTP exception to reject it. */
  check(ctx: BaseContext): MaybePromise<void>;
}
/** The user type of a handler behind this gate. */
export type GateUser<G> = [G] extends [Gate<true, any>] ? CurrentUser : Caller;
/** The scope type of a handler behind this gate. */
export type GateScope<G> = [G] extends [Gate<infer R, infer S>] ? (R extends true ? S : S | null) : AuthScope | null;
