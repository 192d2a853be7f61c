import {
  AliasNode,
  type BinaryOperationNode,
  type ColumnUpdateNode,
  type CommonTableExpressionNode,
  type DeleteQueryNode,
  FromNode,
  FunctionNode,
  IdentifierNode,
  type InsertQueryNode,
  type JoinNode,
  LimitNode,
  OnNode,
  type OperationNode,
  OperationNodeTransformer,
  OperatorNode,
  type OrderByItemNode,
  ParensNode,
  type QueryId,
  RawNode,
  ReturningNode,
  SelectionNode,
  SelectQueryNode,
  TableNode,
  type UnaryOperationNode,
  type UpdateQueryNode,
  UsingNode,
  ValueNode,
  ValuesNode,
  type WithNode,
} from "kysely";
import { isInstance } from "../../core/describe-error.ts";
import type { ConditionNode, PresentValue } from "../../pagination/conditions/condition.ts";
import {
  type ColumnOf,
  conditionExpression,
  HiddenTable,
  RELATED,
  tableColumn,
} from "../conditions/condition-expression.ts";
import type { GuardedEngine } from "../statements/sql-dialect.ts";
import { checkRaw, IN_PARENTHESES, type Place, spaced } from "./check-raw.ts";
import type { KnownFunctions } from "./known-functions.ts";
import { type Placed, placed, restricted, type Source, withoutRepeated } from "./placed.ts";
import { CHECK, columnsOf, ROW_ID, raisingCheck, readsItself } from "./raising-check.ts";
import { unguarded } from "./unguarded.ts";

/** The rules of the tables for one caller. */
export interface TableConditions {
  readonly engine: GuardedEngine;
  readonly functions: KnownFunctions;
  has(table: string): boolean;
  /** Throws without a caller. For `"write"`, the row must also be readable. */
  of(table: string, verb: "read" | "write"): ConditionNode;
}

/** How the result of a guarded statement differs from that of the author's. */
export interface GuardedResult {
  /** Whether RETURNING was added, so that the driver returns rows instead of counts. */
  readonly isCounted: boolean;
  /** Finds a row that the caller can read, but not write, if the statement has changed nothing. */
  readonly probe: SelectQueryNode | null;
  /** Whether a statement that has written nothing has met a row that the caller cannot write. */
  readonly mustWrite: boolean;
}

type Write = InsertQueryNode | UpdateQueryNode | DeleteQueryNode;

/**
 * Adds the rules of its tables to a statement, wherever the tables appear: in joins, subqueries, CTEs and writes. It refuses
 * everything else that could read or write a table.
 */
export class GuardTransformer extends OperationNodeTransformer {
  result: GuardedResult = { isCounted: false, probe: null, mustWrite: false };
  readonly #tables: TableConditions;
  readonly #trustsRelated: boolean;
  /** The names that WITH defines around the current node. */
  #defined: ReadonlySet<string> = new Set();
  readonly #places = new WeakMap<RawNode, Place>();

  /** @param trustsRelated whether the conditions of a list are part of the statement, which read their tables unguarded */
  constructor(tables: TableConditions, trustsRelated: boolean) {
    super();
    this.#tables = tables;
    this.#trustsRelated = trustsRelated;
  }

  protected override transformNodeImpl<T extends OperationNode>(node: T, id?: QueryId): T {
    const isRoot = this.nodeStack.length === 1;
    if (isRoot && !STATEMENTS.has(node.kind)) throw unguarded(`a ${node.kind}`);
    if (REFUSED.has(node.kind)) throw unguarded(`a ${node.kind}`);
    if (RawNode.is(node)) return this.#raw(node, id) as unknown as T;
    if (FunctionNode.is(node) || node.kind === "AggregateFunctionNode")
      this.#tables.functions.check((node as unknown as FunctionNode).func);
    if (TableNode.is(node) && !NAMED_BY.has(this.nodeStack.at(-2)?.kind ?? ""))
      throw unguarded(`the table ${nameOf(node)} in the place of a value`);
    if (this.#trustsRelated && isOfRelated(node)) return node;
    if (!STATEMENTS.has(node.kind)) return super.transformNodeImpl(node, id);
    return this.#statement(node as unknown as SelectQueryNode | Write, id, isRoot) as unknown as T;
  }

  #raw(node: RawNode, id: QueryId | undefined): RawNode {
    const { engine, functions } = this.#tables;
    checkRaw(node, this.#places.get(node), engine, functions);
    return spaced(super.transformNodeImpl(node, id), this.nodeStack.at(-2)?.kind === "RawNode");
  }

  /** Notes the place of a node that stands beside others without parentheses. */
  #checkPlace(node: OperationNode | undefined, place: Place): void {
    if (node === undefined) return;
    if (!RawNode.is(node)) throw unguarded(`a ${node.kind} as the ${place}`);
    this.#places.set(node, place);
  }

  protected override transformAlias(node: AliasNode, id?: QueryId): AliasNode {
    if (!IdentifierNode.is(node.alias)) this.#checkPlace(node.alias, "alias");
    return super.transformAlias(node, id);
  }

  protected override transformOrderByItem(node: OrderByItemNode, id?: QueryId): OrderByItemNode {
    this.#checkPlace(node.direction, "direction");
    return super.transformOrderByItem(node, id);
  }

  protected override transformBinaryOperation(node: BinaryOperationNode, id?: QueryId): BinaryOperationNode {
    if (!OperatorNode.is(node.operator)) this.#checkPlace(node.operator, "operator");
    else if (this.#tables.engine === "sqlite" && /\bin$/i.test(node.operator.operator)) checkList(node.rightOperand);
    return super.transformBinaryOperation(node, id);
  }

  protected override transformUnaryOperation(node: UnaryOperationNode, id?: QueryId): UnaryOperationNode {
    if (!OperatorNode.is(node.operator)) this.#checkPlace(node.operator, "operator");
    const out = super.transformUnaryOperation(node, id);
    // Another minus directly behind it would begin a comment.
    const isMinus = OperatorNode.is(node.operator) && node.operator.operator === "-";
    return isMinus ? { ...out, operand: ParensNode.create(out.operand) } : out;
  }

  #statement(node: SelectQueryNode | Write, id: QueryId | undefined, isRoot: boolean): OperationNode {
    const outer = this.#defined;
    const clause = this.#with(node.with, id);
    const bare = { ...node, with: undefined };
    const guarded = this.#guarded(bare as unknown as typeof node, id, isRoot, clause);
    this.#defined = outer;
    return clause === undefined ? guarded : ({ ...guarded, with: clause } as OperationNode);
  }

  /** In PostgreSQL, a name hides a table from the next expression on, and with RECURSIVE everywhere. In SQLite always everywhere. */
  #with(clause: WithNode | undefined, id: QueryId | undefined): WithNode | undefined {
    if (clause === undefined) return undefined;
    const outer = this.#defined;
    const names = clause.expressions.map(({ name }) => name.table.table.identifier.name);
    const hidesAll = this.#tables.engine === "sqlite" || clause.recursive === true;
    const expressions = clause.expressions.map((one, index): CommonTableExpressionNode => {
      this.#defined = new Set([...outer, ...(hidesAll ? names : names.slice(0, index))]);
      return this.transformNode(one, id);
    });
    this.#defined = new Set([...outer, ...names]);
    return { ...clause, expressions };
  }

  #guarded(node: SelectQueryNode | Write, id: QueryId | undefined, isRoot: boolean, clause?: WithNode): OperationNode {
    switch (node.kind) {
      case "SelectQueryNode":
        return this.#select(node, id);
      case "InsertQueryNode":
        return this.#insert(node, id, isRoot);
      case "UpdateQueryNode":
        return this.#update(node, id, isRoot, clause);
      case "DeleteQueryNode":
        return this.#delete(node, id, isRoot, clause);
    }
  }

  #select(node: SelectQueryNode, id: QueryId | undefined): SelectQueryNode {
    for (const { rawModifier } of node.frontModifiers ?? []) this.#checkPlace(rawModifier, "modifier");
    for (const { rawModifier } of node.endModifiers ?? []) this.#checkPlace(rawModifier, "ending");
    const sources = this.#sources(node.from?.froms, node.joins, id);
    const rest = super.transformSelectQuery({ ...node, from: undefined, joins: undefined } as never, id);
    const where = this.#trustsRelated ? withoutRepeated(sources.where, rest.where) : sources.where;
    return {
      ...rest,
      ...(sources.froms && { from: FromNode.create(sources.froms) }),
      ...(sources.joins && { joins: sources.joins }),
      ...whereOf(restricted(rest.where, where)),
    };
  }

  #sources(
    froms: readonly OperationNode[] | undefined,
    joins: readonly JoinNode[] | undefined,
    id: QueryId | undefined,
  ): Placed {
    const transformed = joins?.map((join) => {
      const on = this.transformNode(join.on, id);
      // Raw SQL in it could go on with another table.
      return on === undefined ? join : { ...join, on: OnNode.create(ParensNode.create(on.on)) };
    });
    return placed(
      froms,
      transformed,
      (item) => this.#source(item, id),
      (source) => this.#condition(source, "read"),
    );
  }

  #source(item: OperationNode, id: QueryId | undefined): Source {
    const inner = AliasNode.is(item) ? item.node : item;
    if (TableNode.is(inner)) return this.#table(item, inner, true);
    const { engine, functions } = this.#tables;
    const called = FunctionNode.is(inner) && functions.hasRows(inner.func) ? inner.func : null;
    if (called === null && !isRowsNode(inner)) throw unguarded(`a ${inner.kind} in the place of a table`);
    const node = this.transformNode(item, id);
    return { node: called !== null && engine === "postgres" ? asRows(node, called) : node, table: null, alias: "" };
  }

  #table(item: OperationNode, table: TableNode, mayBeDefined: boolean): Source {
    const name = nameOf(table);
    const alias = AliasNode.is(item) ? (item.alias as Partial<IdentifierNode>).name : table.table.identifier.name;
    if (alias === undefined) throw unguarded(`an alias of ${name} that is raw SQL`);
    checkAlias(alias);
    if (mayBeDefined && table.table.schema === undefined && this.#defined.has(name))
      return { node: item, table: null, alias };
    if (!this.#tables.has(name)) throw unguarded(`the table ${name}, which the guard doesn't name`);
    return { node: item, table: name, alias };
  }

  /** The target of a write, which is never a CTE. */
  #target(item: OperationNode | undefined): Source & { readonly table: string } {
    const inner = item !== undefined && AliasNode.is(item) ? item.node : item;
    if (item === undefined || inner === undefined || !TableNode.is(inner)) throw unguarded("a write to several tables");
    return this.#table(item, inner, false) as Source & { readonly table: string };
  }

  #condition({ table, alias }: Source, verb: "read" | "write"): OperationNode | null {
    if (table === null) return null;
    const condition = this.#tables.of(table, verb);
    return condition.kind === "always" ? null : this.#expression(condition, tableColumn(alias));
  }

  /** The condition reads its related tables unguarded, so it is not transformed again. */
  #expression(condition: ConditionNode, columnOf: ColumnOf, written?: Source): OperationNode {
    const { engine } = this.#tables;
    const place = {
      columnOf,
      encode: (_column: string, value: PresentValue) => value,
      hidden: new Set([...this.#defined].map((name) => name.toLowerCase())),
      // WITH does not hide a table that is named with its schema.
      ...(engine === "sqlite" && this.#defined.size > 0 && { schema: "main" }),
      ...(written && { excluded: { table: tableOf(written.node), row: columnOf("rowid") } }),
    };
    try {
      return ParensNode.create(conditionExpression(engine, condition, place));
    } catch (error) {
      if (!isInstance(error, HiddenTable)) throw error;
      throw unguarded(
        `WITH defines ${error.table}, which hides the table that a rule looks up: rename it, or name the table in the rule with its schema, such as "public.${error.table}"`,
      );
    }
  }

  #update(node: UpdateQueryNode, id: QueryId | undefined, isRoot: boolean, clause?: WithNode): OperationNode {
    checkExtras(node);
    const target = this.#target(node.table);
    const sources = this.#sources(node.from?.froms, node.joins, id);
    const bare = { ...node, table: undefined, from: undefined, joins: undefined };
    const rest = withClosedValues(super.transformUpdateQuery(bare as never, id));
    const out = {
      ...rest,
      table: target.node,
      ...(sources.froms && { from: FromNode.create(sources.froms) }),
      ...(sources.joins && { joins: sources.joins }),
      ...whereOf(restricted(rest.where, [...sources.where, ...this.#writable(target)])),
    };
    if (isRoot) this.#probe(target, sources, rest.where, clause);
    return this.#touches(target, node.updates) ? this.#checked(out, target, isRoot) : out;
  }

  #delete(node: DeleteQueryNode, id: QueryId | undefined, isRoot: boolean, clause?: WithNode): OperationNode {
    checkExtras(node);
    const target = this.#target(node.from.froms.length === 1 ? node.from.froms[0] : undefined);
    const sources = this.#sources(node.using?.tables, node.joins, id);
    const bare = { ...node, from: undefined, using: undefined, joins: undefined };
    const rest = super.transformDeleteQuery(bare as never, id);
    if (isRoot) this.#probe(target, sources, rest.where, clause);
    return {
      ...rest,
      from: FromNode.create([target.node]),
      ...(sources.froms && { using: UsingNode.create(sources.froms) }),
      ...(sources.joins && { joins: sources.joins }),
      ...whereOf(restricted(rest.where, [...sources.where, ...this.#writable(target)])),
    } as DeleteQueryNode;
  }

  #insert(node: InsertQueryNode, id: QueryId | undefined, isRoot: boolean): OperationNode {
    if (node.replace === true || node.orAction !== undefined)
      throw unguarded("REPLACE and INSERT OR, which delete rows that a rule protects: use onConflict");
    checkExtras(node);
    const target = this.#target(node.into);
    const rest = super.transformInsertQuery({ ...node, into: undefined } as never, id);
    const writable = this.#writable(target);
    const { onConflict } = rest;
    const isUpsert = onConflict?.updates !== undefined && writable.length > 0;
    const out = {
      ...rest,
      into: target.node as TableNode,
      ...(isUpsert && {
        onConflict: { ...onConflict, ...updateWhereOf(restricted(onConflict.updateWhere, writable)) },
      }),
    };
    if (writable.length === 0) return out;
    // Without a condition of the author, each row is inserted or updated, unless the rule leaves it out.
    const mustWrite = isUpsert && onConflict.updateWhere === undefined && hasRows(node.values);
    if (isRoot) this.result = { ...this.result, mustWrite };
    return this.#checked(out, target, isRoot);
  }

  #writable(target: Source): readonly OperationNode[] {
    const condition = this.#condition(target, "write");
    return condition === null ? [] : [condition];
  }

  /** Whether an update sets a column on which the rule depends. */
  #touches({ table }: Source & { readonly table: string }, updates: readonly ColumnUpdateNode[] = []): boolean {
    const columns = columnsOf(this.#tables.of(table, "write"), table);
    return updates.some(({ column }) => {
      const name = (column as { readonly column?: Partial<IdentifierNode> }).column?.name;
      const isKey = this.#tables.engine === "sqlite" && ROW_IDS.test(name ?? "");
      return column.kind !== "ColumnNode" || name === undefined || isKey || isNamed(columns, name);
    });
  }

  /**
   * Checks each written row in RETURNING. A root without RETURNING gets it as a modifier, because Kysely returns rows instead of
   * counts if it sees `returning`.
   */
  #checked<W extends Pick<Write, "returning" | "endModifiers">>(out: W, target: Source, isRoot: boolean): W {
    const { engine } = this.#tables;
    const condition = this.#tables.of(target.table as string, "write");
    // SQLite does not know the alias of the target in RETURNING, where it sees the written row.
    const isSqlite = engine === "sqlite";
    const columnOf = tableColumn(isSqlite ? tableOf(target.node) : target.alias);
    const excludes = isSqlite && readsItself(condition, target.table as string);
    const holds = this.#expression(condition, columnOf, excludes ? target : undefined);
    const check = raisingCheck(engine, holds, target.table as string);
    if (isRoot && out.returning === undefined) {
      this.result = { ...this.result, isCounted: true };
      const rowId = isSqlite ? `, last_insert_rowid() as "${ROW_ID}"` : "";
      const modifier = RawNode.create(["returning ", ` as "${CHECK}"${rowId}`], [check]);
      return { ...out, endModifiers: [...(out.endModifiers ?? []), modifier] };
    }
    const selection = SelectionNode.create(AliasNode.create(check, IdentifierNode.create(CHECK)));
    const returning = ReturningNode.create([...(out.returning?.selections ?? []), selection]);
    return { ...out, returning };
  }

  /** A write that changes nothing fails if the caller can read a row that it would have changed. */
  #probe(
    target: Source & { readonly table: string },
    { froms = [], joins, where }: Placed,
    own: SelectQueryNode["where"],
    clause: WithNode | undefined,
  ): void {
    // A CTE that writes would write again.
    if (clause?.expressions.some(({ expression }) => !SelectQueryNode.is(expression)) === true) return;
    if (this.#condition(target, "write") === null) return;
    const readable = this.#condition(target, "read");
    const rows = SelectQueryNode.cloneWithSelections(SelectQueryNode.createFrom([target.node, ...froms]), [
      SelectionNode.create(AliasNode.create(ValueNode.createImmediate(1), IdentifierNode.create("one"))),
    ]);
    const probe = {
      ...rows,
      ...(joins && { joins }),
      ...(clause && { with: clause }),
      ...whereOf(restricted(own, readable === null ? where : [...where, readable])),
      limit: LimitNode.create(ValueNode.createImmediate(1)),
    };
    this.result = { ...this.result, probe };
  }
}

/** The names of SQLite for a primary key that is an integer. */
const ROW_IDS = /^(?:rowid|oid|_rowid_)$/i;

const STATEMENTS: ReadonlySet<string> = new Set([
  "SelectQueryNode",
  "InsertQueryNode",
  "UpdateQueryNode",
  "DeleteQueryNode",
]);
const REFUSED: ReadonlySet<string> = new Set(["MergeQueryNode", "OnDuplicateKeyNode", "OutputNode", "TopNode"]);
/** The nodes in which the name of a table only refers to one that is named elsewhere. */
const NAMED_BY: ReadonlySet<string> = new Set(["ReferenceNode", "CommonTableExpressionNameNode", "SelectModifierNode"]);

/** Whether a node in the place of a table has its own rows. SQLite takes a name in parentheses for that of a table. */
function isRowsNode(node: OperationNode): boolean {
  return ParensNode.is(node) ? isRowsNode(node.node) : SelectQueryNode.is(node) || ValuesNode.is(node);
}

/**
 * Returns the rows of a function as a subquery does. PostgreSQL takes an unknown column of a function's value for the call of
 * another function: `alias.pg_read_file`.
 */
function asRows(item: OperationNode, name: string): OperationNode {
  const alias = AliasNode.is(item) ? item.alias : IdentifierNode.create(name.toLowerCase());
  return AliasNode.create(RawNode.create(["lateral (select * from ", ")"], [item]), alias);
}

/** Throws for an alias of a related table, because such a table is read without its rule. */
export function checkAlias(alias: string): void {
  if (alias.startsWith(RELATED)) throw unguarded(`the alias ${alias}, which Portico uses`);
}

/** Throws for a name after IN, which SQLite takes for that of a table. */
function checkList(node: OperationNode): void {
  const isList = RawNode.is(node) ? /^\s*\(/.test(node.sqlFragments[0] ?? "") : IN_PARENTHESES.has(node.kind);
  if (!isList) throw unguarded(`IN before a ${node.kind}`);
}

function checkExtras({ top, output, endModifiers }: Write): void {
  if (top !== undefined || output !== undefined) throw unguarded("TOP and OUTPUT");
  if (endModifiers !== undefined) throw unguarded("raw SQL at the end of a write");
}

/** Puts the values of an update in parentheses: raw SQL could go on with another column. */
function withClosedValues(node: UpdateQueryNode): UpdateQueryNode {
  const updates = node.updates?.map((update) =>
    isOperand(update.value) ? update : { ...update, value: ParensNode.create(update.value) },
  );
  return updates === undefined ? node : { ...node, updates };
}

function isOperand(node: OperationNode): boolean {
  return RawNode.is(node) ? /^\s*default\s*$/i.test(node.sqlFragments.join("?")) : OPERANDS.has(node.kind);
}

const OPERANDS: ReadonlySet<string> = new Set(["ValueNode", "ReferenceNode", "SelectQueryNode", "ParensNode"]);

function isOfRelated(node: OperationNode): boolean {
  if (!SelectQueryNode.is(node)) return false;
  const [only, ...others] = node.from?.froms ?? [];
  if (only === undefined || others.length > 0 || !AliasNode.is(only) || !IdentifierNode.is(only.alias)) return false;
  return only.alias.name.startsWith(RELATED);
}

function nameOf({ table }: TableNode): string {
  return table.schema === undefined ? table.identifier.name : `${table.schema.name}.${table.identifier.name}`;
}

function tableOf(node: OperationNode): string {
  return ((AliasNode.is(node) ? node.node : node) as TableNode).table.identifier.name;
}

function isNamed(columns: ReadonlySet<string>, name: string): boolean {
  return [...columns].some((column) => column.toLowerCase() === name.toLowerCase());
}

function hasRows(values: OperationNode | undefined): boolean {
  return values !== undefined && ValuesNode.is(values);
}

function whereOf(where: SelectQueryNode["where"]): Pick<SelectQueryNode, "where"> {
  return where === undefined ? {} : { where };
}

function updateWhereOf(updateWhere: SelectQueryNode["where"]): {
  readonly updateWhere?: NonNullable<typeof updateWhere>;
} {
  return updateWhere === undefined ? {} : { updateWhere };
}
