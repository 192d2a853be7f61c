import type { BaseContext } from "../../kernel/context/http-context.ts";
import type { Execution } from "../execute/execution.ts";
import type { OperationFindings } from "../hooks/operation-hook.ts";
import type { FieldTrace } from "../operation/field-trace.ts";
import type { Prepared } from "./prepare-operation.ts";

/** An operation that may run. */
export interface Admitted {
  readonly execution: Execution;
  readonly prepared: Prepared;
  /** The text of its document. */
  readonly source: string;
  /** The idempotency key of a mutation; `null` without one. */
  readonly key: string | null;
  /** The position to resume a subscription after; `undefined` without one. */
  readonly position: string | undefined;
}

/** How an operation reached the endpoint. */
export interface Arrival {
  /** Whether it is the only operation of its request; `false` for an entry of a batch and for an operation on a socket. */
  readonly isAlone: boolean;
  /** Whether it is one more use of the request's credential: a later entry of a batch, or an operation on a socket. */
  readonly isFurther?: boolean;
  /** Whether it was sent with GET, which mutations must not use. */
  readonly isGet: boolean;
  /** The transport accepts queries and mutations (`"response"`), subscriptions (`"stream"`), or all of them. */
  readonly takes: "response" | "stream" | "either";
  /** Called before a subscription is opened; an error from it rejects the subscription. */
  readonly beforeStream?: (ctx: BaseContext) => Promise<void>;
  /** Called when a query or a mutation starts, with the function that cancels it. */
  readonly onStart?: (abort: () => void) => void;
}

/** The facts about an operation that are known so far, filled in on its way. */
export interface FindingsSoFar extends Writable<OperationFindings> {
  prepared: Prepared | null;
  readonly trace: FieldTrace | null;
}
type Writable<T> = { -readonly [K in keyof T]: T[K] };
