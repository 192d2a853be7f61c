import {
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  getNamedType,
  isObjectType,
} from "graphql";
import { andThen, type MaybePromise } from "../../core/maybe-promise.ts";
import type { BaseContext } from "../../kernel/context/http-context.ts";
import type { PageRequest } from "../../pagination/pages/page-request.ts";
import type { CursorPagination } from "../../pagination/strategies/cursor-pagination.ts";
import { builtItemFields } from "../connection/built-item-fields.ts";
import { checkStrategy, connectionSize } from "../connection/check-strategy.ts";
import { ColumnGates } from "../connection/column-gates.ts";
import type { ListStrategy, RowSource } from "../connection/connection.ts";
import { type ConnectionArgs, connectionArgs } from "../connection/connection-args.ts";
import { FieldPageRequest } from "../connection/field-page-request.ts";
import { connectionExtensions, itemsOfConnection } from "../connection/has-connections.ts";
import { chosenColumns, ListArgs } from "../connection/list-args.ts";
import { ListConnection } from "../connection/list-connection.ts";
import { NestedFields, withParent } from "../connection/nested-fields.ts";
import { type OpenList, openList } from "../connection/open-list.ts";
import { readScope, type ScopeValues } from "../connection/read-scope.ts";
import { FieldQuestion } from "../declare/fields/field-question.ts";
import { gateIn } from "../declare/fields/gate-extensions.ts";
import { ResolverError } from "../declare/references/resolver-error.ts";
import { operationOf } from "./foreign-context.ts";

/** The options of `connectionResolver`. */
export interface ConnectionResolverOptions<Parent, Args> {
  /**
   * Values that the resolver restricts the list by. A cursor with other values is rejected. A function builds them from
   * the parent, the arguments and `ctx`, or returns `undefined` if a list has none. @default none
   */
  readonly cursorScope?:
    | ScopeValues
    | ((of: { readonly parent: Parent; readonly args: Args; readonly ctx: BaseContext }) => ScopeValues | undefined);
}

/** The options of `connectionResolver` for a field whose lists are read together. */
export interface NestedConnectionResolverOptions<Row, Parent, Args> extends ConnectionResolverOptions<Parent, Args> {
  /**
   * The columns of the list that refer to the parent, each with the parent's field: `{ author_id: "id" }`. The lists of all parents
   * of one level are then read with one statement. The resolver runs once for all of them, with `undefined` as the parent, and returns
   * the list of all parents from a handler such as `tableHandler`. The parent is part of the scope of the cursors.
   */
  readonly parent: { readonly [C in Extract<keyof Row, string>]?: string };
}

/** A page of a list, whose members are read only if a query selects them. */
export interface ResolvedConnection<Row> {
  edges(): Promise<readonly { readonly node: Row; readonly cursor: string }[]>;
  nodes(): Promise<readonly Row[]>;
  pageInfo(): Promise<{
    readonly hasNextPage: boolean;
    readonly hasPreviousPage: boolean;
    readonly startCursor: string | null;
    readonly endCursor: string | null;
  }>;
  totalCount(): Promise<number | null>;
}

/**
 * Resolves a field of an existing schema as a Relay connection. The resolver returns a data handler or a list, and the
 * field's type has any of `nodes`, `edges`, `pageInfo` and `totalCount`. The field may have the arguments `first`, `after`,
 * `last`, `before`, `sort` and `filter`, with the values that `connection` would declare for the strategy. The gate of the
 * item type in `Graph.rules` restricts pages and totals.
 *
 * The page size is part of the cost of the field. With the option `parent`, the lists of all parents of one level are read with one
 * statement.
 *
 * Throws `ConfigurationError` for a strategy that is not a `CursorPagination`, and `ResolverError` in an operation that no
 * `Graph` executes. `Graph` throws `ConfigurationError` if a client could sort or filter by a column that no field of the item
 * type returns without a resolver, unless it is declared `public`.
 *
 * @example
 * ```ts
 * import { connectionResolver } from "portico/graphql";
 * import { CursorPagination } from "portico/pagination";
 *
 * const rows = [{ id: "1", title: "Emma" }];
 * const byTitle = new CursorPagination({ order: [["title", "asc"]] });
 *
 * export const typeDefs = `
 *   type Book { id: ID! title: String! }
 *   type PageInfo { hasNextPage: Boolean! endCursor: String }
 *   type BookConnection { nodes: [Book!]! pageInfo: PageInfo! }
 *   type Query { books(first: Int, after: String): BookConnection! }
 * `;
 * export const resolvers = { Query: { books: connectionResolver(byTitle, () => rows) } };
 * ```
 */
export function connectionResolver<Row, Args, Context>(
  strategy: ListStrategy<Extract<keyof NoInfer<Row>, string>>,
  resolver: (parent: undefined, args: Args, context: Context, info: GraphQLResolveInfo) => MaybePromise<RowSource<Row>>,
  options: NestedConnectionResolverOptions<NoInfer<Row>, unknown, NoInfer<Args>>,
): (parent: unknown, args: Args, context: Context, info: GraphQLResolveInfo) => MaybePromise<ResolvedConnection<Row>>;
export function connectionResolver<Row, Parent, Args, Context>(
  strategy: ListStrategy<Extract<keyof NoInfer<Row>, string>>,
  resolver: (
    parent: Parent,
    args: Args,
    context: Context,
    info: GraphQLResolveInfo,
  ) => MaybePromise<RowSource<Row> | readonly Row[]>,
  options?: ConnectionResolverOptions<NoInfer<Parent>, NoInfer<Args>>,
): (parent: Parent, args: Args, context: Context, info: GraphQLResolveInfo) => MaybePromise<ResolvedConnection<Row>>;
export function connectionResolver<Row, Parent, Args, Context>(
  strategy: ListStrategy<Extract<keyof NoInfer<Row>, string>>,
  resolver: (
    parent: any,
    args: Args,
    context: Context,
    info: GraphQLResolveInfo,
  ) => MaybePromise<RowSource<Row> | readonly Row[]>,
  options: ConnectionResolverOptions<Parent, Args> & { readonly parent?: unknown } = {},
): (parent: Parent, args: Args, context: Context, info: GraphQLResolveInfo) => MaybePromise<ResolvedConnection<Row>> {
  checkStrategy("connectionResolver", strategy);
  const choices = new ListArgs(strategy, () => {
    throw new ResolverError("connectionResolver", "the schema declares its arguments");
  });
  const scopeOf = readScope("connectionResolver.cursorScope", options.cursorScope);
  const by = options.parent;
  const nestedFields = (): NestedFields => new NestedFields(by, ownArgs);
  // An invalid option fails at once.
  if (by !== undefined) nestedFields();
  const byType = new WeakMap<GraphQLOutputType, ItemType>();
  const itemsOf: FindItems = (place, type) => {
    const items = byType.get(type) ?? new ItemType(place, type, strategy);
    byType.set(type, items);
    return items;
  };
  const resolve = (
    parent: Parent,
    args: Args,
    context: Context,
    info: GraphQLResolveInfo,
  ): MaybePromise<ResolvedConnection<Row>> => {
    const place = `${info.parentType.name}.${info.fieldName}`;
    const graph = operationOf(context);
    if (graph === null) throw new ResolverError(place, "is a connection, so a Graph must execute it");
    // Another tool may have wrapped this resolver, so that nothing was checked at startup.
    const items = itemsOf(place, info.returnType);
    const paging = args as ConnectionArgs;
    const order = choices.order(paging);
    const filters = choices.filters(paging);
    const ctx = graph.connection;
    const lists = (of: unknown): MaybePromise<OpenList> =>
      andThen(resolver(of, args, context, info), (given) => openList(given, filters, items.gate, graph));
    const open = (
      { handler, scope, blamed }: OpenList,
      values: PageRequest["cursorScope"],
    ): ResolvedConnection<Row> => {
      const request = new FieldPageRequest(ctx, info, values, scope);
      const page = new ListConnection(strategy, handler, request, paging, { order, filters, blamed });
      return page as unknown as ResolvedConnection<Row>;
    };
    const values = (): PageRequest["cursorScope"] => scopeOf({ parent, args, ctx });
    const read = (): MaybePromise<ResolvedConnection<Row>> => {
      if (by === undefined) return andThen(lists(parent), (list) => open(list, values()));
      const nested = items.nestedAt(place, nestedFields);
      const key = nested.parentKey(parent);
      const call = { args: args as Readonly<Record<string, unknown>>, graph };
      return andThen(
        nested.list(call, { parent: key, filters, columns: null }, () => lists(undefined)),
        (list) => open(list, withParent(values(), key)),
      );
    };
    const columns = chosenColumns(order, filters);
    if (columns.length === 0) return read();
    return andThen(
      items.columns.pass(columns, () => new FieldQuestion(graph, undefined, null, info)),
      read,
    );
  };
  DECLARED.set(resolve, {
    itemsOf,
    extensions: { listSize: connectionSize(strategy), ...connectionExtensions(strategy) },
  });
  return withoutThis(resolve);
}

const PAGE_ARGS = new Set([...Object.keys(connectionArgs), "sort", "filter"]);

/** The arguments that the resolver may depend on: those of the page are read afterwards. */
function ownArgs(args: Readonly<Record<string, unknown>>): readonly unknown[] {
  return Object.entries(args).filter(([name]) => !PAGE_ARGS.has(name));
}

/** graphql-tools binds each resolver to its map. A bound copy would not be found at startup, and this one needs no `this`. */
function withoutThis<F extends (...args: never) => unknown>(resolve: F): F {
  const bind = (self: unknown, ...args: unknown[]): unknown =>
    args.length === 0 ? resolve : Function.prototype.bind.call(resolve, self, ...args);
  return Object.defineProperty(resolve, "bind", { value: bind });
}

/** Finds the type of the items. Throws for one that the strategy does not fit. */
type FindItems = (place: string, connection: GraphQLOutputType) => ItemType;

/** A list that a resolver declares. */
interface DeclaredList {
  readonly itemsOf: FindItems;
  readonly extensions: Readonly<Record<string, unknown>>;
}
const DECLARED = new WeakMap<object, DeclaredList>();

/**
 * The extensions of a field whose resolver is a connection: the size of its pages, for the cost limit, and the marks by which
 * the startup and the tools find it. Another tool that wraps the resolver hides them.
 */
export function connectionMarks(resolve: object | undefined): Readonly<Record<string, unknown>> {
  return (resolve && DECLARED.get(resolve)?.extensions) ?? {};
}

/**
 * Checks the connections of a schema by the gates of its copy. Throws a `ConfigurationError` for a column that clients could
 * only read by sorting or filtering.
 */
export function checkConnections(schema: GraphQLSchema, copy: GraphQLSchema): void {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type)) continue;
    const copied = (copy.getType(type.name) as GraphQLObjectType).getFields();
    for (const { name, resolve } of Object.values(type.getFields()))
      if (resolve !== undefined)
        DECLARED.get(resolve)?.itemsOf(`${type.name}.${name}`, (copied[name] as AnyField).type);
  }
}
type AnyField = GraphQLField<unknown, unknown>;

/** The type of the items of a connection, in the schema of one endpoint. */
class ItemType {
  readonly columns: ColumnGates;
  readonly #type: GraphQLObjectType;
  readonly #nested = new Map<string, NestedFields>();

  constructor(place: string, connection: GraphQLOutputType, strategy: CursorPagination<any, any>) {
    const type = itemsOfConnection(getNamedType(connection));
    if (type === null)
      throw new ResolverError(place, "must return an object type with the field nodes or edges, of an object type");
    this.#type = type;
    this.columns = new ColumnGates(place, builtItemFields(type), strategy);
  }

  /** The lists of a field that are read together. Another field with this type may have another resolver. */
  nestedAt(place: string, make: () => NestedFields): NestedFields {
    const nested = this.#nested.get(place) ?? make();
    this.#nested.set(place, nested);
    return nested;
  }

  get gate(): ReturnType<typeof gateIn> {
    return gateIn(this.#type);
  }
}
