import { andThen, type MaybePromise } from "../../core/maybe-promise.ts";
import type { GateNode } from "../../kernel/access/gate-node.ts";
import { listScopeOf } from "../../kernel/access/list-scope-of.ts";
import { filteredHandler } from "../../pagination/filter/filtered-handler.ts";
import type { Filters } from "../../pagination/filter/filters.ts";
import type { AnyHandler } from "../../pagination/handlers/data-handler.ts";
import { type ListScope, scopedHandler } from "../../pagination/handlers/list-scope.ts";
import { run } from "../../pagination/handlers/steps.ts";
import { asHandler } from "../../pagination/handlers/sync-list-data-handler.ts";
import type { GraphContext } from "../operation/graph-context.ts";

/** The source of a connection, and the rule that restricts it. */
export interface OpenList {
  readonly handler: AnyHandler<unknown>;
  readonly scope?: ListScope;
  /** Returns the error of a filter if it caused this error of the source, or else the error itself. */
  readonly blamed: (error: unknown) => unknown;
}

/**
 * Returns the list that a resolver returned, with the client's filters and restricted to what the gate of its type
 * allows.
 */
export function openList(
  given: unknown,
  filters: Filters | null,
  gate: GateNode | null,
  graph: GraphContext,
): MaybePromise<OpenList> {
  const list = filteredList(handlerOf(given), filters);
  return gate === null ? list : andThen(list, (filtered) => scopedList(filtered, gate, graph));
}

function handlerOf(given: unknown): AnyHandler<unknown> {
  const handler = asHandler(given);
  if (handler !== null) return handler;
  throw new TypeError("the resolver of a connection must return a data handler or a list");
}

function filteredList(handler: AnyHandler<unknown>, filters: Filters | null): MaybePromise<OpenList> {
  if (filters === null) return { handler, blamed: (error) => error };
  return andThen(run(filteredHandler(handler, filters)), (filtered) => ({
    handler: filtered,
    blamed: (error) => (filtered !== handler && filtered.isMisfit?.(error) === true ? filters.misfit(error) : error),
  }));
}

function scopedList(list: OpenList, gate: GateNode, graph: GraphContext): MaybePromise<OpenList> {
  return andThen(listScopeOf(gate, graph.connection, graph), (scope) =>
    andThen(scopedHandler(list.handler, scope), (handler) => ({ ...list, handler, scope })),
  );
}
