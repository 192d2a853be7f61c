import type { GraphQLFieldResolver, GraphQLIsTypeOfFn, GraphQLTypeResolver } from "graphql";
import { andThen, type MaybePromise } from "../../core/maybe-promise.ts";
import type { BaseContext } from "../../kernel/context/http-context.ts";
import { GraphContext } from "../operation/graph-context.ts";

/** Builds the context value that the resolvers of an existing schema expect. */
export type BuildContext = (ctx: BaseContext) => MaybePromise<object>;

type Resolver = GraphQLFieldResolver<unknown, any, any>;

/** Calls the functions of an existing schema with the context value that they expect, which is built once per operation. */
export class ForeignContext {
  readonly #build: BuildContext;

  constructor(build: BuildContext) {
    this.#build = build;
  }

  resolver(resolve: Resolver): Resolver {
    return (source, args, graph, info) => andThen(this.#of(graph), (value) => resolve(source, args, value, info));
  }

  isTypeOf(isTypeOf: GraphQLIsTypeOfFn<unknown, any>): GraphQLIsTypeOfFn<unknown, any> {
    return (object, graph, info) => andThen(this.#of(graph), (value) => isTypeOf(object, value, info));
  }

  typeResolver(resolve: GraphQLTypeResolver<unknown, any>): GraphQLTypeResolver<unknown, any> {
    return (object, graph, info, type) => andThen(this.#of(graph), (value) => resolve(object, value, info, type));
  }

  #of(graph: GraphContext): MaybePromise<object> {
    graph.foreign ??= andThen(this.#build(graph.connection), (context) => {
      if (typeof context !== "object" || context === null)
        throw new TypeError("the function in Graph.context must return an object");
      operations.set(context, graph);
      return context;
    });
    return graph.foreign;
  }
}

/** The operations by the context values that were built for them. */
const operations = new WeakMap<object, GraphContext>();

/** The operation that a resolver runs in, by the context value that it received; `null` if no `Graph` executes it. */
export function operationOf(contextValue: unknown): GraphContext | null {
  if (contextValue instanceof GraphContext) return contextValue;
  return typeof contextValue === "object" && contextValue !== null ? (operations.get(contextValue) ?? null) : null;
}
