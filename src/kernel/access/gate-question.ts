import type { MaybePromise } from "../../core/maybe-promise.ts";
import type { BaseContext } from "../context/http-context.ts";
import type { Verdict } from "./refusal.ts";

/** The verdicts of one operation: those of a gate by the object that it decided about. */
export interface Verdicts {
  /** @internal As in the classes that implement it, so that their published types stay assignable to this. */
  verdictsOf(gate: object): Map<unknown, MaybePromise<Verdict>>;
}

/** The caller, the object and the place that a gate decides about. */
export interface GateQuestion {
  readonly ctx: BaseContext;
  /** The object that rules decide about. */
  readonly subject: unknown;
  /** Returns the second parameter of gate functions. */
  place(): object;
  /** Whether the place depends on nothing but the object, so that a verdict applies to the object wherever it appears. */
  readonly isAboutSubject: boolean;
  /** `null` if nothing is to be remembered. */
  readonly verdicts: Verdicts | null;
}
