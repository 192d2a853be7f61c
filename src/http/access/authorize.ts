import type { BaseContext } from "../context/http-context.ts";
import { NotFound } from "../exceptions/http-exception.ts";
import { askGate } from "./ask-gate.ts";
import type { Gate } from "./gate.ts";
import { nodeOf } from "./read-gate.ts";
import { isAllowed, type Verdict } from "./refusal.ts";

/** How `ctx.authorize` refuses an object. */
export interface AuthorizeOptions {
  /** 403 tells the caller that the object exists. @default 404 */
  readonly status?: 403 | 404;
}

/** Returns the object if the gate allows it; otherwise rejects as `ctx.authorize` does. */
export async function authorize<T>(
  ctx: BaseContext,
  gate: Gate<boolean, any, never>,
  object: T,
  { status = 404 }: AuthorizeOptions,
): Promise<NonNullable<T>> {
  // A missing object has the error of a refused one, so that a foreign id and an unknown id give the same response.
  if (object === null || object === undefined) throw new NotFound();
  const verdict = await askAbout(ctx, gate, object);
  if (verdict === true) return object;
  throw status === 404 && !verdict.isUnknown ? new NotFound() : verdict.error;
}

/** Returns whether the gate allows the object. Rejects if it cannot decide. */
export async function can(ctx: BaseContext, gate: Gate<boolean, any, never>, object: unknown): Promise<boolean> {
  if (object === null || object === undefined) return false;
  return isAllowed(await askAbout(ctx, gate, object));
}

async function askAbout(ctx: BaseContext, gate: Gate<boolean, any, never>, object: unknown): Promise<Verdict> {
  const place = (): object => ({ parent: object, ctx });
  return askGate(nodeOf(gate), { ctx, subject: object, place, isAboutSubject: true, verdicts: null });
}
