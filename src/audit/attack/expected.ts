import { askGate } from "../../kernel/access/ask-gate.ts";
import type { GateNode } from "../../kernel/access/gate-node.ts";
import { listScopeOf } from "../../kernel/access/list-scope-of.ts";
import { withContext } from "../../kernel/context/current-context.ts";
import type { BaseContext } from "../../kernel/context/http-context.ts";
import { Sightings } from "../stand-ins/sightings.ts";
import { JUST_NOW } from "../stand-ins/sign-in.ts";
import { contextOf } from "../stand-ins/stand-in.ts";
import type { AttackIdentity } from "./attack-identity.ts";

/** The result that the declaration of a place leads to for a caller. */
export interface Expected {
  /** `depends` if the gate decides by the object or the request. */
  readonly answer: "let in" | "refused" | "depends";
  /** The status and the code of the refusal. */
  readonly status?: number;
  readonly code?: string;
}

/** Asks a gate about the caller that a credential stands for. */
export async function expectedOf(gate: GateNode | null, { user, scope, isFresh }: AttackIdentity): Promise<Expected> {
  if (gate === null) return { answer: "let in" };
  const seen = new Sightings();
  const ctx = contextOf(user, { scope, credential: isFresh ? JUST_NOW : {} }, seen);
  const place = (): object => seen.elsewhere;
  const question = { ctx, subject: seen.elsewhere, place, isAboutSubject: false, verdicts: null };
  const verdict = await withContext(ctx, () => askGate(gate, question));
  if (seen.hasLookedElsewhere || (verdict !== true && verdict.isUnknown)) return { answer: await byRows(gate, ctx) };
  if (verdict === true) return { answer: "let in" };
  const { status, code } = verdict.error as { readonly status?: number; readonly code?: string };
  return { answer: "refused", ...(status === undefined ? {} : { status }), ...(code === undefined ? {} : { code }) };
}

/** An object without an owner: the value of every member equals nothing. Handlers that declare an object load this one. */
export const FOREIGN_OBJECT: object = new Sightings().strange();

/** Asks the gates of a handler and of an object that it declares, which is the foreign one. */
export async function expectedOfObject(
  gate: GateNode | null,
  object: GateNode,
  identity: AttackIdentity,
): Promise<Expected> {
  const atHandler = await expectedOf(gate, identity);
  // The gate itself is attacked at the place of the handler.
  if (atHandler.answer !== "let in") return { answer: "depends" };
  const { user, scope, isFresh } = identity;
  const ctx = contextOf(user, { scope, credential: isFresh ? JUST_NOW : {} }, new Sightings());
  const place = (): object => ({ parent: FOREIGN_OBJECT, ctx });
  const question = { ctx, subject: FOREIGN_OBJECT, place, isAboutSubject: true, verdicts: null };
  const verdict = await withContext(ctx, () => askGate(object, question));
  if (verdict === true) return { answer: "let in" };
  return verdict.isUnknown ? { answer: "depends" } : { answer: "refused", status: 404, code: "NOT_FOUND" };
}

/** A rule may select all rows or none for this caller, whatever the object is. */
async function byRows(gate: GateNode, ctx: BaseContext): Promise<Expected["answer"]> {
  try {
    const { condition } = await listScopeOf(gate, ctx);
    const kind = condition?.["~condition"].kind;
    return kind === "always" ? "let in" : kind === "never" ? "refused" : "depends";
  } catch {
    return "depends";
  }
}
