import { ConfigurationError } from "../../core/configuration-error.ts";
import { andThen, type MaybePromise } from "../../core/maybe-promise.ts";
import type { Reserved } from "../../dependencies/depend.ts";
import type { BaseContext } from "../../kernel/context/http-context.ts";
import type { CurrentUser } from "../../kernel/identity/identity.ts";
import type { DataHandler, FetchContext } from "../../pagination/handlers/data-handler.ts";
import { selectingHandler } from "../../pagination/handlers/selecting-handler.ts";
import type { PageRequest } from "../../pagination/pages/page-request.ts";
import type { BasePaginationStrategy } from "../../pagination/strategies/base-pagination-strategy.ts";
import type { CursorMetadata, CursorParameters } from "../../pagination/strategies/cursor-pagination.ts";
import type { Args, Params, ResolverArgs, TestArgs } from "../declare/fields/args.ts";
import { declareHead } from "../declare/fields/declare-head.ts";
import { fieldFactory } from "../declare/fields/field.ts";
import type { Reads as ReadColumns } from "../declare/fields/field-declaration.ts";
import type { FieldDef, ReadParent, WithReads } from "../declare/fields/field-def.ts";
import type { FieldOptions, GateInput, IsGated } from "../declare/fields/field-options.ts";
import { FieldQuestion } from "../declare/fields/field-question.ts";
import { nodeOf } from "../declare/fields/node-of.ts";
import type { ObjectNode } from "../declare/references/type-node.ts";
import { checkName } from "../declare/references/type-options.ts";
import type { ObjectType } from "../declare/types/object-type.ts";
import { typeGate } from "../declare/types/type-gate.ts";
import { checkStrategy, connectionSize } from "./check-strategy.ts";
import { ColumnGates } from "./column-gates.ts";
import { connectionArgs } from "./connection-args.ts";
import { connectionType } from "./connection-type.ts";
import { declaredItemFields } from "./declared-item-fields.ts";
import { FieldPageRequest } from "./field-page-request.ts";
import { connectionExtensions } from "./has-connections.ts";
import { InputOwner } from "./input-owner.ts";
import { chosenColumns, ListArgs } from "./list-args.ts";
import { ListConnection } from "./list-connection.ts";
import { NestedFields, withParent } from "./nested-fields.ts";
import { type OpenList, openList } from "./open-list.ts";
import { readScope, type ScopeValues } from "./read-scope.ts";
import { SelectedColumns } from "./selected-columns.ts";

/**
 * The options of a connection: those of a field, without `listSize` and without parameters named as its own arguments.
 */
export type ConnectionOptions<
  P,
  Parent,
  Yes extends boolean,
  Verdict extends MaybePromise<boolean>,
  Required extends boolean = never,
  Row = unknown,
  By = never,
  Reads extends string = never,
> = FieldOptions<P, Parent, Yes, Verdict, Required, Reads> & {
  readonly listSize?: never;
  readonly params?: Reserved<keyof typeof connectionArgs, "every connection has this argument: choose another name">;
  /**
   * Values that the resolver restricts the list by, as for `paginate`. A cursor with other values is rejected. A function
   * builds them from the arguments, from the parent if each parent has its own list, and from `ctx` if each caller has.
   * A function that reads the parent names its type: `({ parent }: Of<AuthorRow>) => ({ author: parent.id })`. The
   * values of `sort` and `filter` need not be repeated here. @default none
   */
  readonly cursorScope?:
    | ScopeValues
    | ((of: ScopeArgs<Parent, NoInfer<P>, IsGated<NoInfer<Yes>, NoInfer<Verdict>, NoInfer<Required>>>) => ScopeValues);
  /**
   * `"selected"` reads only the columns that the query needs: those of the selected fields, and those that the gate of the
   * type declares. All columns are read if a selected field has a resolver or a gate that uses the object and does not
   * declare `reads`, and from handlers without `selecting`. @default all columns
   */
  readonly columns?: "selected";
  /**
   * The start of the names of its sort and filter types: `BookSort` and `BookFilter` for `Book`. Lists of one type that
   * clients sort or filter by other values need different names. @default the name of the object type
   */
  readonly inputPrefix?: string;
  /**
   * The columns of the list that refer to the parent, each with the parent's field: `{ author_id: "id" }`. The lists of
   * all parents of one level are then read with one statement. The resolver returns the list of all parents, from a
   * handler such as `tableHandler`. It runs once for all of them, without `parent`, and each parent's list is
   * restricted to its own rows. The parent is part of the scope of the cursors. @default each parent's list is read on
   * its own
   */
  readonly parent?: By & Readonly<Record<Exclude<keyof By, keyof Row>, "the rows of the list have no such column">>;
};
type ScopeArgs<Parent, P, Gated> = {
  readonly parent: unknown extends Parent
    ? { readonly "name the parent: cursorScope: ({ parent }: Of<Row>) => ...": never }
    : Parent;
  readonly args: GateInput<P>;
  readonly ctx: Gated extends true ? BaseContext<CurrentUser> : BaseContext;
};

/**
 * A sync or async data handler as one type: for a union of the two, TypeScript reports the wrong rows of an async
 * handler as a promise where the sync one returns a number.
 */
export interface RowSource<Row> {
  readonly name?: string;
  getTotalItems(context?: FetchContext): MaybePromise<number>;
  getItems(offset: number, limit: number, context?: FetchContext): MaybePromise<readonly Row[]>;
}

/** A strategy that sorts and filters by the columns `C`. */
export type ListStrategy<C extends string> = BasePaginationStrategy<CursorParameters, CursorMetadata, C>;

/** The fields of a parent that the columns of its list refer to. A null refers to no parent. */
export type ReferredParent<Row, By> = { readonly [C in keyof By as By[C] & string]: Row[C & keyof Row] | null };

/** The parent that a connection can be declared in. */
type ListParent<GateParent, Row, By> = [By] extends [never]
  ? GateParent
  : ReferredParent<Row, By> & (unknown extends GateParent ? unknown : GateParent);
/** The parent that the resolver receives. */
type ResolverParent<Parent, By> = [By] extends [never] ? Parent : NoParent;
/** The parent in a resolver that runs once for all parents. */
export interface NoParent {
  readonly "the resolver runs once for all parents: return the list of all of them": never;
}
/** The source of a list in memory has no columns, so it cannot refer to parents. */
type ListSource<Row, By> = [By] extends [never] ? RowSource<Row> | readonly Row[] : RowSource<Row>;

/**
 * Takes the resolver, which returns the source of the list, or decorates a method. With `parent`, the method is called
 * without `this`.
 */
export interface ConnectionFactory<Row, P, Gated, GateParent, By = never, Reads extends string = never> {
  <Parent extends GateParent>(
    resolver: (
      args: ResolverArgs<P, ResolverParent<ReadParent<Parent, Reads>, By>, Gated>,
    ) => MaybePromise<ListSource<Row, By>>,
    context?: undefined,
  ): FieldDef<
    Parent,
    MaybePromise<DataHandler<Row> | readonly Row[]>,
    TestArgs<P, ResolverParent<ReadParent<Parent, Reads>, By>, Gated>,
    "field"
  >;
  /** The legacy decorator of a method. */
  <
    This extends GateParent,
    M extends (args: Args<P, ResolverParent<This, By>, Gated>) => MaybePromise<ListSource<Row, By>>,
  >(
    target: This,
    key: string,
    descriptor: TypedPropertyDescriptor<M>,
  ): void;
  <This extends GateParent>(
    method: (this: This, args: Args<P, ResolverParent<This, By>, Gated>) => MaybePromise<ListSource<Row, By>>,
    context: ClassMethodDecoratorContext<This>,
  ): void;
}

/**
 * Declares a Relay connection with the arguments `first`, `after`, `last` and `before`. It works with the strategy and
 * the data handler of a route, and a cursor of one is valid in the other. The resolver returns the handler or a list.
 * Rows are fetched only if a query selects them, and counted only for `totalCount`. Its `listSize` follows from the
 * strategy. A strategy with `sortable` adds the argument `sort: [BookSort!]`, and one with `filterable` adds
 * `filter: BookFilter`. If only fields with a gate return such a column, their gates decide before the list is read.
 *
 * Throws `ConfigurationError` for a strategy without cursors or with its own `calculateOffsetLimit`, and for a
 * parameter that is named as one of these arguments. `schema()` throws it if a client could sort or filter by a column
 * that no field returns and that is not declared `public`, or whose gate decides about each object.
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
  const By extends { readonly [C in keyof Row]?: string } = never,
  const Reads extends string = never,
>(
  type: ObjectType<Row> | (() => ObjectType<Row>),
  strategy: ListStrategy<Extract<keyof NoInfer<Row>, string>>,
  options?: ConnectionOptions<P, GateParent, Yes, Verdict, Required, NoInfer<Row>, By, Reads>,
): ConnectionFactory<
  Row,
  P,
  IsGated<Yes, Verdict, Required>,
  ListParent<WithReads<GateParent, Reads>, Row, By>,
  By,
  Reads
> {
  checkStrategy("connection", strategy);
  const {
    params = {},
    listSize,
    cursorScope,
    inputPrefix,
    columns,
    parent: by,
    extensions,
    ...others
  } = (options ?? {}) as FieldOptions<Params, unknown, true, boolean, never, string> & {
    readonly cursorScope?: unknown;
    readonly columns?: unknown;
    readonly inputPrefix?: string;
    readonly parent?: unknown;
  };
  if (listSize !== undefined)
    throw new ConfigurationError(
      "connection.listSize",
      "cannot be set: it follows from the strategy. Set maxPageSize on the strategy",
    );
  if (columns !== undefined && columns !== "selected")
    throw new ConfigurationError("connection.columns", '"selected"', columns);
  if (inputPrefix !== undefined) checkName("connection.inputPrefix", inputPrefix);
  const nodeOfItems = (): ObjectNode => nodeOf("connection", type) as ObjectNode;
  const choices = new ListArgs(strategy, () => new InputOwner(nodeOfItems(), inputPrefix));
  const pageArgs = { ...connectionArgs, ...choices.args };
  const taken = Object.keys(pageArgs).find((name) => Object.hasOwn(params, name));
  if (taken !== undefined)
    throw new ConfigurationError(
      `connection.params.${taken}`,
      "is reserved for the arguments of the connection: choose another name",
    );
  const scopeOf = readScope("connection.cursorScope", cursorScope);
  const declared = {
    ...others,
    params: { ...params, ...pageArgs },
    listSize: connectionSize(strategy),
    extensions: { ...extensions, ...connectionExtensions(strategy) },
  };
  const nested =
    by === undefined ? null : new NestedFields(by, (args) => Object.keys(params).map((param) => args[param]));
  const selected = columns === undefined ? null : new SelectedColumns();
  let gates: ColumnGates | undefined;
  const columnGates = (place: string): ColumnGates => {
    gates ??= new ColumnGates(place, declaredItemFields(nodeOfItems()), strategy);
    return gates;
  };
  const head = declareHead("field", () => connectionType(type), declared, {
    finish: (call) => {
      const { args, graph, info } = call;
      const needed = selected === null ? null : selected.of(call);
      const order = choices.order(args);
      const filters = choices.filters(args);
      const lists = (parent: unknown): MaybePromise<OpenList> =>
        andThen(call.resolve(parent), (given) => openList(given, filters, typeGate(nodeOfItems()), graph));
      const open = ({ handler, scope, blamed }: OpenList, values: PageRequest["cursorScope"]) => {
        const request = new FieldPageRequest(graph.connection, info, values, scope);
        return new ListConnection(strategy, handler, request, args, { order, filters, blamed });
      };
      const values = (): PageRequest["cursorScope"] => scopeOf({ parent: call.parent, args, ctx: graph.connection });
      const read = (): MaybePromise<ListConnection<unknown>> => {
        if (nested === null)
          return andThen(lists(call.parent), (list) =>
            open({ ...list, handler: selectingHandler(list.handler, needed) }, values()),
          );
        const key = nested.parentKey(call.parent);
        return andThen(
          nested.list(call, { parent: key, filters, columns: needed }, () => lists(undefined)),
          (list) => open(list, withParent(values(), key)),
        );
      };
      const columns = chosenColumns(order, filters);
      if (columns.length === 0) return read();
      const place = `${info.parentType.name}.${info.fieldName}`;
      return andThen(
        columnGates(place).pass(columns, () => new FieldQuestion(graph, undefined, null, info)),
        read,
      );
    },
    items: type,
    check: (place) => {
      columnGates(place);
    },
    parentReads: parentReads(nested, cursorScope, others.reads),
  });
  return fieldFactory(head) as never;
}

/** Behind its gate, a connection reads the columns that refer to the parent, and those that the functions in it declare. */
function parentReads(
  nested: NestedFields | null,
  cursorScope: unknown,
  reads: readonly string[] | undefined,
): ReadColumns | undefined {
  if (typeof cursorScope === "function" && reads === undefined) return null;
  return nested === null ? undefined : [...nested.fields, ...(reads ?? [])];
}
