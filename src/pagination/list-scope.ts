import type { MaybePromise } from "../core/maybe-promise.ts";
import { PorticoError } from "../core/portico-error.ts";
import type { Condition } from "./condition.ts";
import type { AnyHandler } from "./data-handler.ts";

export interface ListScope {
  readonly name: string;
  readonly condition: Condition | null;
  allows(items: readonly unknown[]): MaybePromise<readonly boolean[]>;
}
export function scopedHandler<T>(handler: AnyHandler<T>, _scope: ListScope): MaybePromise<AnyHandler<T>> {
  return handler;
}
export class RuleDisagreement extends PorticoError {
  constructor(name: string) {
    super("RULE_DISAGREEMENT", name);
  }
}
