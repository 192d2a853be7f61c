import { type OperationNode, ReferenceNode } from "kysely";
import { ConfigurationError } from "../../core/configuration-error.ts";
import type { MaybePromise } from "../../core/maybe-promise.ts";
import type { Order } from "../../pagination/keys/order.ts";
import type { AnyQuery } from "../statements/any-query.ts";
import { dialectOf, isNullLastByDefault, type SqlDialect } from "../statements/sql-dialect.ts";
import { parametersOf, type Statement } from "../statements/statement.ts";
import { countStatement } from "./count-statement.ts";
import { isNullMoved, type KeyColumn } from "./key-column.ts";
import { type FieldSource, type KnownColumns, QueryColumns, repeatedName, tablePath } from "./query-columns.ts";
import type { QueryOrigin } from "./query-origin.ts";
import { seekStatement } from "./seek-statement.ts";
import { type Selection, selectionOf } from "./selection.ts";
import { type ColumnFacts, type TableName, tableColumns } from "./table-columns.ts";

// How long catalogue data is cached, because a migration may make a column nullable.
const BELIEVED_MS = 60_000;
const MAX_SHAPES = 500;
const MAX_STATEMENTS = 200;

const shapes = new Map<string, QueryShape>();

type Compiled = Statement | readonly Statement[];

/** All queries with the same text, whatever their parameters: their columns, and the statements built from them. */
export class QueryShape {
  readonly dialect: SqlDialect;
  readonly origin: QueryOrigin;
  readonly #madeAt = performance.now();
  readonly #tables = new Map<string, Promise<ReadonlyMap<string, ColumnFacts>>>();
  /** The columns of the tables that have been read. */
  readonly #known = new Map<string, ReadonlySet<string>>();
  readonly #columns = new Map<string, readonly KeyColumn[]>();
  readonly #statements = new Map<string, Compiled>();
  readonly #selections = new Map<string, Selection | null>();
  readonly #declared = new Set<string>();
  readonly #isOfFirst = new Map<string, boolean>();
  readonly #references = new Map<string, OperationNode>();
  #table: { readonly name: string | undefined } | null = null;

  constructor(text: string, origin: QueryOrigin) {
    this.dialect = dialectOf(text);
    this.origin = origin;
  }

  /** Returns the shape of the queries with this text. */
  static of(text: string, origin: QueryOrigin): QueryShape {
    const known = shapes.get(origin.key + text);
    if (known !== undefined && performance.now() - known.#madeAt < BELIEVED_MS) return known;
    const shape = new QueryShape(text, origin);
    if (shapes.size >= MAX_SHAPES) shapes.clear();
    shapes.set(origin.key + text, shape);
    return shape;
  }

  /** Clears the cached catalogue data. */
  static forget(text: string, origin: QueryOrigin): void {
    shapes.delete(origin.key + text);
  }

  /** Clears the cached catalogue data of all queries, because the tables have changed. */
  static forgetAll(): void {
    shapes.clear();
  }

  /** The name of the first table of the queries. */
  tableOf(query: AnyQuery): string | undefined {
    if (this.#table === null) {
      const main = new QueryColumns(query).mainTable;
      this.#table = { name: main === null ? undefined : tablePath(main).join(".") };
    }
    return this.#table.name;
  }

  /** Whether a field is the column of the same name in the first table. */
  isOfFirst(query: AnyQuery, field: string): boolean {
    const known = this.#isOfFirst.get(field);
    if (known !== undefined) return known;
    const columns = new QueryColumns(query);
    const { column } = columns.find(field);
    const isOfFirst = column !== null && column.name === field && column.table === columns.mainTable;
    if (this.#isOfFirst.size < MAX_STATEMENTS) this.#isOfFirst.set(field, isOfFirst);
    return isOfFirst;
  }

  /** Whether a field is a column of a table. The catalogue is read if necessary. */
  async isColumn(query: AnyQuery, field: string): Promise<boolean> {
    return (await this.#sourceOf(query, new QueryColumns(query), field)).column !== null;
  }

  /** Throws `ConfigurationError` if the query itself shows that the unique key does not exist. Checked once. */
  declare(query: AnyQuery, uniqueKey: readonly string[]): void {
    const key = uniqueKey.length === 1 ? (uniqueKey[0] as string) : JSON.stringify(uniqueKey);
    if (this.#declared.has(key)) return;
    const columns = new QueryColumns(query);
    const field = uniqueKey.find((column) => columns.lacks(column));
    if (field !== undefined) throw new ConfigurationError(`${this.origin.label}: the query`, missing(field, uniqueKey));
    if (this.#declared.size < MAX_STATEMENTS) this.#declared.add(key);
  }

  /** Throws `ConfigurationError` if the catalogue does not contain the unique key. */
  async check(query: AnyQuery, uniqueKey: readonly string[]): Promise<void> {
    const sources = new QueryColumns(query);
    for (const field of uniqueKey)
      await this.#factsOf(query, field, await this.#sourceOf(query, sources, field), uniqueKey);
  }

  /**
   * Returns the columns of the order. The catalogue is read once. Throws `ConfigurationError` if the unique key does
   * not exist.
   */
  columns(
    query: AnyQuery,
    order: Order,
    uniqueKey: readonly string[],
  ): readonly KeyColumn[] | Promise<readonly KeyColumn[]> {
    return this.#columns.get(keyOf(order)) ?? this.#findColumns(query, order, uniqueKey);
  }

  /**
   * Returns an order as statements have it: only PostgreSQL has indexes with a place for nulls, and only where it differs from
   * the usual one.
   */
  async placedOrder(query: AnyQuery, order: Order, uniqueKey: readonly string[]): Promise<Order> {
    const columns = await this.columns(query, order, uniqueKey);
    return order.map(([column, way, nulls], at) => {
      const isPlaced = this.dialect === "postgres" && isNullMoved("postgres", columns[at] as KeyColumn);
      return isPlaced && nulls !== undefined ? [column, way, nulls] : [column, way];
    });
  }

  /** Returns the statement for the rows after a key with these nulls. It is compiled once. */
  statement(
    query: AnyQuery,
    order: Order,
    columns: readonly KeyColumn[],
    isNull: readonly boolean[] | null,
    limit: number,
    selection: Selection | null,
  ): Statement {
    const name = `${keyOf(order)} ${patternOf(isNull)} ${limit} ${selection?.name ?? ""}`;
    const compile = (): Statement => seekStatement(selection?.of(query) ?? query, this.dialect, columns, isNull, limit);
    return this.compiled(name, compile);
  }

  /**
   * Returns the part of the queries with these fields, or `null` if the whole query has to be read. The catalogue is read
   * once.
   */
  selection(query: AnyQuery, fields: readonly string[]): MaybePromise<Selection | null> {
    const key = JSON.stringify(fields);
    const known = this.#selections.get(key);
    return known === undefined ? this.#select(query, fields, key) : known;
  }

  async #select(query: AnyQuery, fields: readonly string[], key: string): Promise<Selection | null> {
    const columnsOf = async (table: TableName): Promise<ReadonlySet<string>> =>
      new Set((await this.#columnsOf(query, table)).keys());
    const selection = await selectionOf(query, this.dialect, fields, columnsOf);
    if (this.#selections.size >= MAX_STATEMENTS) this.#selections.clear();
    this.#selections.set(key, selection);
    return selection;
  }

  /** Returns the statement or the statements of this name. They are compiled once. */
  compiled<S extends Compiled>(name: string, compile: () => S): S {
    const known = this.#statements.get(name);
    if (known !== undefined) return known as S;
    const made = compile();
    if (this.#statements.size >= MAX_STATEMENTS) this.#statements.clear();
    this.#statements.set(name, made);
    return made;
  }

  /** Whether the columns of a condition are known without reading the catalogue. */
  isDecided(query: AnyQuery, fields: readonly string[]): boolean {
    const columns = new QueryColumns(query);
    return fields.every(
      (field) => this.#references.has(field) || columns.locate(field, this.#columnsKnown) !== "unknown",
    );
  }

  /** Reads the catalogue for conditions that are not decided. */
  async learn(query: AnyQuery): Promise<void> {
    await Promise.all(new QueryColumns(query).starTables.map((table) => this.#columnsOf(query, table)));
  }

  /**
   * Returns the column that a condition compares. Throws `ConfigurationError` if the query shows that it does not exist,
   * or if it is not clear which column of several it is.
   */
  conditionColumn(query: AnyQuery, field: string): OperationNode {
    const known = this.#references.get(field);
    if (known !== undefined) return known;
    const columns = new QueryColumns(query);
    if (columns.lacks(field))
      throw new ConfigurationError(
        `${this.origin.label}: the query`,
        `has no column ${field}, but the condition of a rule or a filter uses it`,
      );
    const found = columns.locate(field, this.#columnsKnown);
    if (typeof found === "string") throw unclear(this.origin, field, found);
    const node = found.expression.toOperationNode();
    // A computed field is not cached, because it may contain parameters.
    if (!ReferenceNode.is(node)) return node;
    if (this.#references.size < MAX_STATEMENTS) this.#references.set(field, node);
    return node;
  }

  readonly #columnsKnown: KnownColumns = (table) => this.#known.get(nameOf(table));

  /**
   * Returns the source of a column of the order. The catalogue is read if necessary. If the rows have its name twice, it is the
   * column of the first table.
   */
  async #sourceOf(query: AnyQuery, columns: QueryColumns, field: string): Promise<FieldSource> {
    if (columns.locate(field, this.#columnsKnown) === "unknown") await this.learn(query);
    const found = columns.locate(field, this.#columnsKnown);
    return typeof found === "string" ? columns.find(field) : found;
  }

  /** Returns the statement that counts all rows, or up to a cap. It is compiled once. */
  count(query: AnyQuery, cap: number | null): Statement {
    return this.compiled(`count ${cap}`, () => countStatement(query, this.dialect, cap));
  }

  async #findColumns(query: AnyQuery, order: Order, uniqueKey: readonly string[]): Promise<readonly KeyColumn[]> {
    checkSeekable(query, this.origin);
    const sources = new QueryColumns(query);
    const found: KeyColumn[] = [];
    for (const [field, direction, nulls] of order) {
      const source = await this.#sourceOf(query, sources, field);
      const { expression, column } = source;
      if (column === null && parametersOf(this.dialect, expression.toOperationNode()).length > 0)
        throw new ConfigurationError(
          `${this.origin.label}: ${field}`,
          "is computed from query parameters: order by a column instead",
        );
      const facts = await this.#factsOf(query, field, source, uniqueKey);
      const isNotNull = facts?.isNotNull === true && column?.isOuter === false;
      found.push({
        expression,
        direction,
        isNullable: !isNotNull,
        isNullLast: nulls === undefined ? isNullLastByDefault(this.dialect, direction) : nulls === "nulls last",
        isRowid: facts?.isRowid ?? false,
        type: facts?.type ?? "",
      });
    }
    if (this.#columns.size >= MAX_STATEMENTS) this.#columns.clear();
    this.#columns.set(keyOf(order), found);
    return found;
  }

  /** Returns the catalogue entry of a field's column, or nothing if it is computed or has no table. */
  async #factsOf(
    query: AnyQuery,
    field: string,
    { column }: FieldSource,
    uniqueKey: readonly string[],
  ): Promise<ColumnFacts | undefined> {
    if (column === null) return undefined;
    const columns = await this.#columnsOf(query, column.table);
    const facts = columns.get(column.name);
    if (facts === undefined && columns.size > 0)
      throw new ConfigurationError(`${this.origin.label}: the table ${column.table.table}`, missing(field, uniqueKey));
    return facts;
  }

  #columnsOf(query: AnyQuery, table: TableName): Promise<ReadonlyMap<string, ColumnFacts>> {
    const name = nameOf(table);
    const known = this.#tables.get(name);
    // The pending read may belong to another request, whose transaction failed or was aborted. This request then reads
    // the catalogue itself.
    if (known !== undefined) return known.catch(() => tableColumns(query, this.dialect, table));
    const asked = tableColumns(query, this.dialect, table);
    this.#tables.set(name, asked);
    asked.then(
      (columns) => columns.size > 0 && this.#known.set(name, new Set(columns.keys())),
      () => this.#tables.delete(name),
    );
    return asked;
  }
}

/**
 * Rejects grouped queries, where a condition would apply to the rows before grouping, and ordered queries, whose order
 * would be ignored.
 */
function checkSeekable(query: AnyQuery, { label }: QueryOrigin): void {
  const { groupBy, distinctOn, frontModifiers, setOperations, orderBy } = query.toOperationNode();
  if (orderBy !== undefined)
    throw new ConfigurationError(
      label,
      "requires a query without ORDER BY for cursor pagination: set order or sortField on the strategy",
    );
  if ([groupBy, distinctOn, frontModifiers, setOperations].every((part) => part === undefined)) return;
  throw new ConfigurationError(
    label,
    "does not support cursors over a query with GROUP BY, DISTINCT or a set operation: select from it as a subquery",
  );
}

function unclear({ label }: QueryOrigin, field: string, reason: "unknown" | "ambiguous"): ConfigurationError {
  const subject = `${label}: the query`;
  if (reason === "ambiguous") return repeatedName(subject, field);
  return new ConfigurationError(
    subject,
    `does not show where ${field} comes from, because it selects * or raw SQL without a name: select ${field} by its name`,
  );
}

function nameOf({ schema, table }: TableName): string {
  return JSON.stringify([schema, table]);
}

function missing(field: string, uniqueKey: readonly string[]): string {
  return uniqueKey.includes(field)
    ? `has no column ${field} to break ties: set uniqueKey to columns that identify a row`
    : `has no column ${field}, but its list is ordered by it or refers to a parent by it`;
}

/** The name of a pattern of nulls in a key. */
export function patternOf(isNull: readonly boolean[] | null): string {
  return isNull?.map(Number).join("") ?? "-";
}

export function keyOf(order: Order): string {
  let key = "";
  for (const [column, direction, nulls = ""] of order) key += `${column} ${direction} ${nulls},`;
  return key;
}
