import { ConfigurationError } from "../../core/configuration-error.ts";
import type { MaybePromise } from "../../core/maybe-promise.ts";
import type { Reserved } from "../../dependencies/depend.ts";
import type { GateNode } from "../../http/access/gate-node.ts";
import { listScopeOf } from "../../http/access/list-scope-of.ts";
import type { BaseContext } from "../../http/context/http-context.ts";
import type { CurrentUser } from "../../http/identity/identity.ts";
import type { AnyHandler, DataHandler, FetchContext } from "../../pagination/data-handler.ts";
import { type ListScope, scopedHandler } from "../../pagination/list-scope.ts";
import type { PageRequest } from "../../pagination/page-request.ts";
import { CursorPagination } from "../../pagination/strategies/cursor-pagination.ts";
import { asHandler } from "../../pagination/sync-list-data-handler.ts";
import type { Args, Params, ResolverArgs, TestArgs } from "../fields/args.ts";
import { fieldFactory } from "../fields/field.ts";
import { declareHead } from "../fields/field-declaration.ts";
import type { FieldDef } from "../fields/field-def.ts";
import type { FieldOptions, GateInput, IsGated } from "../fields/field-options.ts";
import type { GraphContext } from "../operation/graph-context.ts";
import { nodeOf } from "../types/node-of.ts";
import type { ObjectType } from "../types/object-type.ts";
import { typeGate } from "../types/type-gate.ts";
import type { ObjectNode } from "../types/type-node.ts";
import { connectionArgs, sortArgs } from "./connection-args.ts";
import { connectionType } from "./connection-type.ts";
import { FieldPageRequest } from "./field-page-request.ts";
import { connectionExtensions } from "./has-connections.ts";
import { ListConnection } from "./list-connection.ts";

/**
 * The options of a connection: those of a field, without `listSize` and without parameters named as its own arguments.
 */
export type ConnectionOptions<
  P,
  Parent,
  Yes extends boolean,
  Verdict extends MaybePromise<boolean>,
  Required extends boolean = never,
> = FieldOptions<P, Parent, Yes, Verdict, Required> & {
  readonly listSize?: never;
  readonly params?: Reserved<keyof typeof connectionArgs, "every connection has this argument: choose another name">;
  /**
   * The values that the list is filtered by, as for `paginate`. They are part of the scope of its cursors. A function
   * builds them from the arguments, from the parent if each parent has its own list, and from `ctx` if each caller has.
   * A function that reads the parent names its type: `({ parent }: Of<AuthorRow>) => ({ author: parent.id })`.
   * @default no filter
   */
  readonly filter?:
    | ListFilter
    | ((of: FilterArgs<Parent, NoInfer<P>, IsGated<NoInfer<Yes>, NoInfer<Verdict>, NoInfer<Required>>>) => ListFilter);
};
type FilterArgs<Parent, P, Gated> = {
  readonly parent: unknown extends Parent
    ? { readonly "name the parent: filter: ({ parent }: Of<Row>) => ...": never }
    : Parent;
  readonly args: GateInput<P>;
  readonly ctx: Gated extends true ? BaseContext<CurrentUser> : BaseContext;
};
type ListFilter = Readonly<Record<string, unknown>>;

/**
 * A sync or async data handler as one type: for a union of the two, TypeScript reports the wrong rows of an async
 * handler as a promise where the sync one returns a number.
 */
interface RowSource<Row> {
  readonly name?: string;
  getTotalItems(context?: FetchContext): MaybePromise<number>;
  getItems(offset: number, limit: number, context?: FetchContext): MaybePromise<readonly Row[]>;
}

/** Takes the resolver, which returns the source of the list, or decorates a method. */
export interface ConnectionFactory<Row, P, Gated, GateParent> {
  <Parent extends GateParent>(
    resolver: (args: ResolverArgs<P, Parent, Gated>) => MaybePromise<RowSource<Row> | readonly Row[]>,
    context?: undefined,
  ): FieldDef<Parent, MaybePromise<DataHandler<Row> | readonly Row[]>, TestArgs<P, Parent, Gated>, "field">;
  /** The legacy decorator of a method. */
  <This extends GateParent, M extends (args: Args<P, This, Gated>) => MaybePromise<RowSource<Row> | readonly Row[]>>(
    target: This,
    key: string,
    descriptor: TypedPropertyDescriptor<M>,
  ): void;
  <This extends GateParent>(
    method: (this: This, args: Args<P, This, Gated>) => MaybePromise<RowSource<Row> | readonly Row[]>,
    context: ClassMethodDecoratorContext<This>,
  ): void;
}

/**
 * Declares a Relay connection with the arguments `first`, `after`, `last` and `before`. It works with the strategy and
 * the data handler of a route, and a cursor of one is valid in the other. The resolver returns the handler or a list.
 * Rows are fetched only if a query selects them, and counted only for `totalCount`. Its `listSize` follows from the
 * strategy. A strategy with `sortable` adds the argument `sort: [String!]`.
 *
 * Throws `ConfigurationError` for a strategy without cursors or with its own `calculateOffsetLimit`, and for a
 * parameter that is named as one of these arguments.
 *
 * @example
 * ```ts
 * import { connection, object, type ObjectType, schema, t } from "portico/graphql";
 * import { CursorPagination } from "portico/pagination";
 *
 * interface BookRow { id: string; title: string; published_at: string }
 * declare const rows: readonly BookRow[];
 *
 * const Book: ObjectType<BookRow> = object("Book", { id: t.id, title: t.string });
 * const newest = new CursorPagination({ order: [["published_at", "desc"]] });
 *
 * export default schema({ query: { books: connection(Book, newest)(() => rows) } });
 * ```
 */
export function connection<
  Row,
  const P extends Params = {},
  GateParent = unknown,
  Yes extends boolean = never,
  Verdict extends MaybePromise<boolean> = never,
  Required extends boolean = never,
>(
  type: ObjectType<Row> | (() => ObjectType<Row>),
  strategy: CursorPagination<Extract<keyof NoInfer<Row>, string>>,
  options?: ConnectionOptions<P, GateParent, Yes, Verdict, Required>,
): ConnectionFactory<Row, P, IsGated<Yes, Verdict, Required>, GateParent> {
  if (!(strategy instanceof CursorPagination))
    throw new ConfigurationError("connection: the strategy", "a CursorPagination", strategy);
  if (strategy.calculateOffsetLimit !== CursorPagination.prototype.calculateOffsetLimit)
    throw new ConfigurationError(
      "connection: the strategy",
      `cannot be ${strategy.constructor.name}: it overrides calculateOffsetLimit, but first and last set the page size of a connection`,
    );
  const {
    params = {},
    listSize,
    filter,
    extensions,
    ...others
  } = (options ?? {}) as FieldOptions<Params, unknown, true, boolean> & { readonly filter?: unknown };
  if (listSize !== undefined)
    throw new ConfigurationError(
      "connection.listSize",
      "cannot be set: it follows from the strategy. Set maxPageSize on the strategy",
    );
  const pageArgs = { ...connectionArgs, ...sortArgs(strategy) };
  const taken = Object.keys(pageArgs).find((name) => Object.hasOwn(params, name));
  if (taken !== undefined)
    throw new ConfigurationError(
      `connection.params.${taken}`,
      "is reserved for the arguments of the connection: choose another name",
    );
  const filterOf = readFilter(filter);
  const { max, fallback } = strategy.size;
  const declared = {
    ...others,
    params: { ...params, ...pageArgs },
    listSize: { argument: ["first", "last"], max, assumed: fallback },
    extensions: { ...extensions, ...connectionExtensions },
  };
  const head = declareHead(
    "field",
    () => connectionType(type),
    declared,
    (given, { parent, args, graph, info }) => {
      const ctx = graph.connection;
      const filter = filterOf({ parent, args, ctx });
      const gate = typeGate(nodeOf("connection", type) as ObjectNode);
      if (gate === null)
        return new ListConnection(strategy, handlerOf(given), new FieldPageRequest(ctx, info, filter), args);
      return scopedConnection(gate, graph, handlerOf(given), (handler, scope) => {
        const request = new FieldPageRequest(ctx, info, filter, scope);
        return new ListConnection(strategy, handler, request, args);
      });
    },
    type,
  );
  return fieldFactory(head) as ConnectionFactory<Row, P, IsGated<Yes, Verdict, Required>, GateParent>;
}

/** Scopes the list of a connection to what the gate of its type allows. */
async function scopedConnection(
  gate: GateNode,
  graph: GraphContext,
  handler: AnyHandler<unknown>,
  open: (handler: AnyHandler<unknown>, scope: ListScope) => ListConnection<unknown>,
): Promise<ListConnection<unknown>> {
  const scope = await listScopeOf(gate, graph.connection, graph);
  return open(await scopedHandler(handler, scope), scope);
}

function readFilter(filter: unknown): (of: object) => PageRequest["filter"] {
  if (typeof filter === "function") return filter as (of: object) => ListFilter;
  if (filter !== undefined && (typeof filter !== "object" || filter === null || Array.isArray(filter)))
    throw new ConfigurationError("connection.filter", "an object, or a function that returns one", filter);
  return () => filter as PageRequest["filter"];
}

function handlerOf(given: unknown): AnyHandler<unknown> {
  const handler = asHandler(given);
  if (handler !== null) return handler;
  throw new TypeError("the resolver of a connection must return a data handler or a list");
}
