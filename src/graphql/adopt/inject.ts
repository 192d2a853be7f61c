import type { GraphQLResolveInfo } from "graphql";
import { andThen, type MaybePromise } from "../../core/maybe-promise.ts";
import type { Dependency, Injected } from "../../dependencies/depend.ts";
import { planParams } from "../../dependencies/param-plan.ts";
import type { BaseContext } from "../../kernel/context/http-context.ts";
import { ResolverError } from "../declare/references/resolver-error.ts";
import { operationOf } from "./foreign-context.ts";

/** The dependencies of a resolver by name. */
interface InjectParams {
  readonly [name: string]: Dependency<any>;
}

/** The third argument of the resolver: its dependencies, and the context of the connection as `ctx`. */
type InjectedContext<P> = Injected<P> & { readonly ctx: BaseContext };

/**
 * Gives a resolver of an existing schema its dependencies, in the place of the context value. The types of `parent` and `args`
 * follow from the place that the resolver is for, such as a resolver map of graphql-codegen. An operation has one value of each
 * dependency, which it shares with its gates.
 *
 * Throws `ResolverError` in an operation that no `Graph` executes.
 *
 * @example
 * ```ts
 * import { Depend } from "portico";
 * import { inject } from "portico/graphql";
 *
 * class Orders {
 *   byId(id: string) {
 *     return { id };
 *   }
 * }
 *
 * export const resolvers = {
 *   Query: {
 *     order: inject({ orders: Depend(() => new Orders()) }, (_parent, { id }: { id: string }, { orders }) => orders.byId(id)),
 *   },
 * };
 * ```
 */
export function inject<P extends InjectParams, Parent, Args, Result>(
  params: P,
  resolver: (parent: Parent, args: Args, injected: InjectedContext<P>, info: GraphQLResolveInfo) => Result,
): (parent: Parent, args: Args, context: unknown, info: GraphQLResolveInfo) => MaybePromise<Awaited<Result>> {
  const plans = planParams("inject", params);
  return (parent, args, context, info) => {
    const graph = operationOf(context);
    if (graph === null)
      throw new ResolverError(
        `${info.parentType.name}.${info.fieldName}`,
        "has dependencies, so a Graph must execute it",
      );
    const target: Record<string, unknown> = { ctx: graph.connection };
    const filled = graph.dependencies.fill(plans, target);
    const run = (): Result => resolver(parent, args, target as InjectedContext<P>, info);
    return andThen(filled, run) as MaybePromise<Awaited<Result>>;
  };
}
