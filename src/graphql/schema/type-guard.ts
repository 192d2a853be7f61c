import type { GraphQLResolveInfo } from "graphql";
import { toError } from "../../core/describe-error.ts";
import { isPromise, type MaybePromise, whenAll } from "../../core/maybe-promise.ts";
import { askGate } from "../../kernel/access/ask-gate.ts";
import type { GateNode } from "../../kernel/access/gate-node.ts";
import type { GateQuestion } from "../../kernel/access/gate-question.ts";
import { Refusal, type Verdict } from "../../kernel/access/refusal.ts";
import type { BaseContext } from "../../kernel/context/http-context.ts";
import type { GraphContext } from "../operation/graph-context.ts";

/** The value of an object that its type's gate refused. */
export const ABSENT: unique symbol = Symbol("absent");

/**
 * Applies the gates of the types in a result. Returns the result, `ABSENT` for a refused object, or the refusal if a gate
 * could not decide. A list comes without its refused objects, or with null for them if its items are nullable. Never throws,
 * and rejects only if the result does.
 */
export type TypeGuard = (result: unknown, graph: GraphContext, info: GraphQLResolveInfo) => MaybePromise<unknown>;

/** The gate for an object, or `null`. */
export type GateOf = (object: unknown, graph: GraphContext, info: GraphQLResolveInfo) => MaybePromise<GateNode | null>;

/** Guards a single object. */
export function objectGuard(gateOf: GateOf): TypeGuard {
  return function guard(result, graph, info): MaybePromise<unknown> {
    if (result === null || result === undefined || result instanceof Error) return result;
    // An item that rejects becomes an error, which graphql reports for that item alone.
    if (isPromise(result)) return Promise.resolve(result).then((later) => guard(later, graph, info), toError);
    const gate = gateOf(result, graph, info);
    return isPromise(gate) ? gate.then((later) => asked(later, result, graph)) : asked(gate, result, graph);
  };
}

function asked(gate: GateNode | null, object: unknown, graph: GraphContext): MaybePromise<unknown> {
  if (gate === null) return object;
  const verdict = askGate(gate, new ObjectQuestion(graph, object));
  return isPromise(verdict) ? verdict.then((later) => judged(later, object, graph)) : judged(verdict, object, graph);
}

function judged(verdict: Verdict, object: unknown, graph: GraphContext): unknown {
  if (verdict === true) return object;
  graph.refusedObjects++;
  return verdict.isUnknown ? verdict : ABSENT;
}

/** The effect of a refused item on its list: it is left out, it becomes null, or the whole list is absent. */
export type RefusedItem = "left out" | "null" | "whole list";

/** Guards the items of a list. The gate is called for all of them before any result is awaited. */
export function listGuard(item: TypeGuard, refused: RefusedItem): TypeGuard {
  return function guard(result, graph, info): MaybePromise<unknown> {
    if (isPromise(result)) return Promise.resolve(result).then((later) => guard(later, graph, info));
    if (isAsyncIterable(result)) return Array.fromAsync(result).then((later) => guard(later, graph, info));
    // graphql reports anything else than a list.
    if (!isIterable(result)) return result;
    const items = Array.isArray(result) ? (result as readonly unknown[]) : Array.from(result);
    return whenAll(
      items.map((one) => item(one, graph, info)),
      (guarded) => present(guarded, refused),
    );
  };
}

function present(items: readonly unknown[], refused: RefusedItem): unknown {
  let isAnyAbsent = false;
  for (const item of items) {
    if (item instanceof Refusal) return item;
    isAnyAbsent ||= item === ABSENT;
  }
  if (!isAnyAbsent) return items;
  if (refused === "whole list") return ABSENT;
  return refused === "null"
    ? items.map((item) => (item === ABSENT ? null : item))
    : items.filter((item) => item !== ABSENT);
}

function isIterable(value: unknown): value is Iterable<unknown> {
  return typeof value === "object" && value !== null && Symbol.iterator in value;
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value;
}

/** An object, about which the gate of its type decides. */
export class ObjectQuestion implements GateQuestion {
  readonly verdicts: GraphContext;
  readonly subject: unknown;
  readonly isAboutSubject = true;

  constructor(graph: GraphContext, object: unknown) {
    this.verdicts = graph;
    this.subject = object;
  }
  get ctx(): BaseContext {
    return this.verdicts.connection;
  }
  place(): object {
    return { parent: this.subject, ctx: this.ctx };
  }
}
