import { Column, getTableName, is, SQL, type SQLWrapper, StringChunk, Subquery, Table } from "drizzle-orm";
import {
  AliasNode,
  ColumnNode,
  CommonTableExpressionNameNode,
  CommonTableExpressionNode,
  GroupByItemNode,
  IdentifierNode,
  JoinNode,
  type JoinType,
  type OperationNode,
  OrderByItemNode,
  ParensNode,
  QueryNode,
  RawNode,
  ReferenceNode,
  SelectionNode,
  SelectModifierNode,
  SelectQueryNode,
  TableNode,
  ValueNode,
  WithNode,
} from "kysely";
import { ConfigurationError } from "../core/configuration-error.ts";
import { isSubqueryField, type JoinConfig, type OpenQuery, originalName } from "./open-query.ts";
import type { RowField } from "./selected-fields.ts";

/**
 * Returns a Drizzle query as a query of Kysely, with the same tables, joins and conditions, so that the database has
 * the same plans for it. Its fields are named by their paths.
 */
export function selectNode(query: OpenQuery, fields: readonly RowField[]): SelectQueryNode {
  const { table, withList = [], joins = [], where, groupBy = [], having, orderBy = [], distinct } = query.config;
  checkSupported(query);
  let node = SelectQueryNode.createFrom([sourceNode(query, table)], withNode(query, withList));
  node = SelectQueryNode.cloneWithSelections(
    node,
    fields.map(({ name, field }) =>
      SelectionNode.create(AliasNode.create(fieldNode(query, field), IdentifierNode.create(name))),
    ),
  );
  for (const join of joins) node = QueryNode.cloneWithJoin(node, joinNode(query, join));
  if (where !== undefined) node = QueryNode.cloneWithWhere(node, ParensNode.create(rawNode(query, where)));
  if (groupBy.length > 0)
    node = SelectQueryNode.cloneWithGroupByItems(
      node,
      groupBy.map((item) => GroupByItemNode.create(fieldNode(query, item))),
    );
  if (having !== undefined) node = SelectQueryNode.cloneWithHaving(node, rawNode(query, having));
  if (distinct === true) node = SelectQueryNode.cloneWithFrontModifier(node, SelectModifierNode.create("Distinct"));
  else if (typeof distinct === "object")
    node = SelectQueryNode.cloneWithDistinctOn(
      node,
      distinct.on.map((item) => fieldNode(query, item)),
    );
  const items = orderBy.map((term) => orderNode(query, term));
  return items.length === 0 ? node : QueryNode.cloneWithOrderByItems(node, items);
}

/** Returns a column or a computed field as an expression. */
export function fieldNode(query: OpenQuery, field: SQLWrapper): OperationNode {
  if (is(field, Column)) return columnNode(query, field);
  if (is(field, SQL.Aliased)) return rawNode(query, isSubqueryField(field) ? field : field.sql);
  // A scalar subquery has its alias in Drizzle's text.
  return is(field, Subquery) ? ParensNode.create(rawNode(query, field._.sql)) : rawNode(query, field);
}

export function columnNode(query: OpenQuery, column: Column): ReferenceNode {
  const [name = "", table = "", schema] = query.names(column).toReversed();
  const owner = schema === undefined ? TableNode.create(table) : TableNode.createWithSchema(schema, table);
  return ReferenceNode.create(ColumnNode.create(name), owner);
}

function checkSupported({ config }: OpenQuery): void {
  const { limit, offset, setOperators = [], lockingClause, joins = [] } = config;
  if (limit !== undefined || offset !== undefined)
    refuse("requires a query without LIMIT and OFFSET: the strategy sets them");
  if (setOperators.length > 0) refuse("does not support a set operation such as UNION: select from it as a subquery");
  if (lockingClause !== undefined) refuse("does not support FOR UPDATE and other locks");
  if ([config, ...joins].some((part) => INDEX_HINTS.some((hint) => (part[hint] ?? []).length > 0)))
    refuse("does not support index hints");
}

function refuse(reason: string): never {
  throw new ConfigurationError("drizzleHandler", reason);
}

const INDEX_HINTS = ["useIndex", "forceIndex", "ignoreIndex"] as const;

function rawNode(query: OpenQuery, piece: SQLWrapper): RawNode {
  const { texts, values } = query.fragments(piece);
  return RawNode.create(
    texts,
    values.map((value) => ValueNode.create(value)),
  );
}

function sourceNode(query: OpenQuery, source: SQLWrapper): OperationNode {
  if (is(source, Table)) {
    const { schema, table } = originalName(source);
    const node = schema === undefined ? TableNode.create(table) : TableNode.createWithSchema(schema, table);
    const alias = getTableName(source);
    return alias === table ? node : AliasNode.create(node, IdentifierNode.create(alias));
  }
  if (!is(source, Subquery)) return rawNode(query, source);
  const { alias, isWith } = source._ as { readonly alias: string; readonly isWith: boolean };
  const rows = isWith ? rawNode(query, source) : ParensNode.create(rawNode(query, source._.sql));
  return AliasNode.create(rows, IdentifierNode.create(alias));
}

function joinNode(query: OpenQuery, { joinType, lateral = false, table, on }: JoinConfig): JoinNode {
  const kind = `${lateral ? "Lateral" : ""}${JOINS[joinType]}` as JoinType;
  const source = sourceNode(query, table);
  return on === undefined ? JoinNode.create(kind, source) : JoinNode.createWithOn(kind, source, rawNode(query, on));
}

const JOINS: Readonly<Record<JoinConfig["joinType"], string>> = {
  inner: "InnerJoin",
  left: "LeftJoin",
  right: "RightJoin",
  full: "FullJoin",
  cross: "CrossJoin",
};

function withNode(query: OpenQuery, list: readonly SQLWrapper[]): WithNode | undefined {
  return list.reduce((node: WithNode | undefined, item) => {
    const { alias, sql } = (item as Subquery)._;
    const name = CommonTableExpressionNameNode.create(alias);
    const expression = CommonTableExpressionNode.create(name, ParensNode.create(rawNode(query, sql)));
    return node === undefined ? WithNode.create(expression) : WithNode.cloneWithExpression(node, expression);
  }, undefined);
}

/** Recognises a column, and the results of `asc` and `desc`. The direction of another term is part of its SQL. */
function orderNode(query: OpenQuery, term: SQLWrapper): OrderByItemNode {
  if (is(term, SQL)) {
    const [start, operand, end] = term.queryChunks;
    const direction = is(end, StringChunk) ? DIRECTIONS.get(end.value.join("")) : undefined;
    const isPlain = term.queryChunks.length === 3 && is(start, StringChunk) && start.value.join("") === "";
    if (!isPlain || direction === undefined)
      return OrderByItemNode.create(rawNode(query, term), RawNode.createWithSql(""));
    return OrderByItemNode.create(fieldNode(query, operand as SQLWrapper), RawNode.createWithSql(direction));
  }
  return OrderByItemNode.create(fieldNode(query, term));
}

const DIRECTIONS: ReadonlyMap<string, "asc" | "desc"> = new Map([
  [" asc", "asc"],
  [" desc", "desc"],
]);
