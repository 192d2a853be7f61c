import { andThen, type MaybePromise } from "../../core/maybe-promise.ts";
import type { AuthorizeOptions } from "../context/decisions.ts";
import type { BaseContext } from "../context/http-context.ts";
import { NotFound } from "../exceptions/http-exception.ts";
import { askGate } from "./ask-gate.ts";
import type { Gate } from "./gate.ts";
import type { GateNode } from "./gate-node.ts";
import { gateNodeOf } from "./read-gate.ts";
import { isAllowed, type Verdict } from "./refusal.ts";

/** Returns the object if the gate allows it; otherwise rejects as `ctx.authorize` does. */
export function authorize<T>(
  ctx: BaseContext,
  gate: Gate<boolean, any, never>,
  object: T,
  { status = 404 }: AuthorizeOptions,
): Promise<NonNullable<T>> {
  return ctx.checks.make("ctx.authorize(...)", () =>
    andThen(refusalOf(ctx, gateNodeOf(gate), object, status), (refused) => {
      if (refused !== null) throw refused;
      return object as NonNullable<T>;
    }),
  );
}

/** Returns the error for an object that the gate refuses; `null` if it allows the object. */
export function refusalOf(
  ctx: BaseContext,
  node: GateNode,
  object: unknown,
  status: 403 | 404,
): MaybePromise<Error | null> {
  // A missing object has the error of a refused one, so that a foreign id and an unknown id give the same response.
  if (object === null || object === undefined) return new NotFound();
  return andThen(askAbout(ctx, node, object), (verdict) => {
    if (verdict === true) return null;
    return status === 404 && !verdict.isUnknown ? new NotFound() : verdict.error;
  });
}

/** Returns whether the gate allows the object. Rejects if it cannot decide. */
export function can(ctx: BaseContext, gate: Gate<boolean, any, never>, object: unknown): Promise<boolean> {
  return ctx.checks.make("ctx.can(...)", () => {
    if (object === null || object === undefined) return false;
    return andThen(askAbout(ctx, gateNodeOf(gate), object), isAllowed);
  });
}

function askAbout(ctx: BaseContext, node: GateNode, object: unknown): MaybePromise<Verdict> {
  const place = (): object => ({ parent: object, ctx });
  return askGate(node, { ctx, subject: object, place, isAboutSubject: true, verdicts: null });
}
