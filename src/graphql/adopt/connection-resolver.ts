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
import type { CursorPagination } from "../../pagination/strategies/cursor-pagination.ts";
import { builtItemFields } from "../connection/built-item-fields.ts";
import { checkStrategy } from "../connection/check-strategy.ts";
import { ColumnGates } from "../connection/column-gates.ts";
import type { ListStrategy, RowSource } from "../connection/connection.ts";
import type { ConnectionArgs } from "../connection/connection-args.ts";
import { FieldPageRequest } from "../connection/field-page-request.ts";
import { chosenColumns, ListArgs } from "../connection/list-args.ts";
import { ListConnection } from "../connection/list-connection.ts";
import { openList } from "../connection/open-list.ts";
import { readScope, type ScopeValues } from "../connection/read-scope.ts";
import { FieldQuestion } from "../declare/fields/field-question.ts";
import { gateIn } from "../declare/fields/gate-extensions.ts";
import { ResolverError } from "../declare/fields/resolver-error.ts";
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
export function connectionResolver<Row, Parent, Args, Context>(
  strategy: ListStrategy<Extract<keyof NoInfer<Row>, string>>,
  resolver: (
    parent: Parent,
    args: Args,
    context: Context,
    info: GraphQLResolveInfo,
  ) => MaybePromise<RowSource<Row> | readonly Row[]>,
  options: ConnectionResolverOptions<NoInfer<Parent>, NoInfer<Args>> = {},
): (parent: Parent, args: Args, context: Context, info: GraphQLResolveInfo) => MaybePromise<ResolvedConnection<Row>> {
  checkStrategy("connectionResolver", strategy);
  const choices = new ListArgs(strategy, () => {
    throw new ResolverError("connectionResolver", "the schema declares its arguments");
  });
  const scopeOf = readScope("connectionResolver.cursorScope", options.cursorScope);
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
    const read = (): MaybePromise<ResolvedConnection<Row>> =>
      andThen(resolver(parent, args, context, info), (given) =>
        andThen(openList(given, filters, items.gate, graph), ({ handler, scope, blamed }) => {
          const request = new FieldPageRequest(ctx, info, scopeOf({ parent, args, ctx }), scope);
          const page = new ListConnection(strategy, handler, request, paging, { order, filters, blamed });
          return page as unknown as ResolvedConnection<Row>;
        }),
      );
    const columns = chosenColumns(order, filters);
    if (columns.length === 0) return read();
    return andThen(
      items.columns.pass(columns, () => new FieldQuestion(graph, undefined, null, info)),
      read,
    );
  };
  FINDERS.set(resolve, itemsOf);
  return withoutThis(resolve);
}

/** graphql-tools binds each resolver to its map. A bound copy would not be found at startup, and this one needs no `this`. */
function withoutThis<F extends (...args: never) => unknown>(resolve: F): F {
  const bind = (self: unknown, ...args: unknown[]): unknown =>
    args.length === 0 ? resolve : Function.prototype.bind.call(resolve, self, ...args);
  return Object.defineProperty(resolve, "bind", { value: bind });
}

/** Finds the type of the items. Throws for one that the strategy does not fit. */
type FindItems = (place: string, connection: GraphQLOutputType) => ItemType;
const FINDERS = new WeakMap<object, FindItems>();

/**
 * Checks the connections of a schema by the gates of its copy. Throws a `ConfigurationError` for a column that clients could
 * only read by sorting or filtering.
 */
export function checkConnections(schema: GraphQLSchema, copy: GraphQLSchema): void {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type)) continue;
    const copied = (copy.getType(type.name) as GraphQLObjectType).getFields();
    for (const { name, resolve } of Object.values(type.getFields()))
      if (resolve !== undefined) FINDERS.get(resolve)?.(`${type.name}.${name}`, (copied[name] as AnyField).type);
  }
}
type AnyField = GraphQLField<unknown, unknown>;

/** The type of the items of a connection, in the schema of one endpoint. */
class ItemType {
  readonly columns: ColumnGates;
  readonly #type: GraphQLObjectType;

  constructor(place: string, connection: GraphQLOutputType, strategy: CursorPagination<any, any>) {
    const fields = fieldTypes(getNamedType(connection));
    const type = fields.get("nodes") ?? fieldTypes(fields.get("edges")).get("node");
    if (!isObjectType(type))
      throw new ResolverError(place, "must return an object type with the field nodes or edges, of an object type");
    this.#type = type;
    this.columns = new ColumnGates(place, builtItemFields(type), strategy);
  }

  get gate(): ReturnType<typeof gateIn> {
    return gateIn(this.#type);
  }
}

function fieldTypes(type: unknown): ReadonlyMap<string, unknown> {
  const fields = isObjectType(type) ? Object.values(type.getFields()) : [];
  return new Map(fields.map((field) => [field.name, getNamedType(field.type)]));
}
