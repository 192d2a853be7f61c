import {
  AliasNode,
  AndNode,
  IdentifierNode,
  type JoinNode,
  OnNode,
  type OperationNode,
  ParensNode,
  SelectionNode,
  SelectQueryNode,
  type TableNode,
  WhereNode,
} from "kysely";

/** A table or a subquery in FROM or a join. */
export interface Source {
  readonly node: OperationNode;
  /** The table as the guard names it; `null` for a table of WITH and for a subquery, whose own tables are guarded. */
  readonly table: string | null;
  /** The name by which columns refer to it. */
  readonly alias: string;
}

/** The sources of a statement with the conditions of their tables, and the conditions that belong to WHERE. */
export interface Placed {
  readonly froms: readonly OperationNode[] | undefined;
  readonly joins: readonly JoinNode[] | undefined;
  readonly where: readonly OperationNode[];
}

/**
 * Puts the condition of each table where it leaves out rows of that table only. In the WHERE of a left join it would leave out
 * rows of the other side, and in the ON of a full join it would let rows through.
 */
export function placed(
  froms: readonly OperationNode[] | undefined,
  joins: readonly JoinNode[] | undefined,
  sourceOf: (item: OperationNode) => Source,
  conditionOf: (source: Source) => OperationNode | null,
): Placed {
  const isReversed = joins?.some(({ joinType }) => REVERSED.has(joinType)) ?? false;
  const where: OperationNode[] = [];
  const filtered = (item: OperationNode): { readonly node: OperationNode; readonly rest: OperationNode | null } => {
    const source = sourceOf(item);
    const condition = conditionOf(source);
    if (condition === null || !isReversed) return { node: source.node, rest: condition };
    return { node: derived(source, condition), rest: null };
  };
  const kept = ({ node, rest }: ReturnType<typeof filtered>): OperationNode => {
    if (rest !== null) where.push(rest);
    return node;
  };
  return {
    froms: froms?.map((item) => kept(filtered(item))),
    joins: joins?.map((join) => {
      const { node, rest } = filtered(join.table);
      if (!NULLABLE.has(join.joinType)) return { ...join, table: kept({ node, rest }) };
      if (rest === null) return { ...join, table: node };
      return { ...join, table: node, on: OnNode.create(both(join.on?.on, rest)) };
    }),
    where,
  };
}

/** Joins that extend their right side with nulls, and those that extend the left one. */
const NULLABLE: ReadonlySet<string> = new Set(["LeftJoin", "LateralLeftJoin", "OuterApply"]);
const REVERSED: ReadonlySet<string> = new Set(["RightJoin", "FullJoin"]);

/** Returns the conditions that a statement does not have already, because its list has the same rule. */
export function withoutRepeated(
  conditions: readonly OperationNode[],
  own: WhereNode | undefined,
): readonly OperationNode[] {
  if (own === undefined || conditions.length === 0) return conditions;
  const known = new Set(conjuncts(own.where).map(textOf));
  return conditions.filter((condition) => !known.has(textOf(condition)));
}

function conjuncts(node: OperationNode): readonly OperationNode[] {
  if (ParensNode.is(node)) return [node, ...conjuncts(node.node)];
  return AndNode.is(node) ? [...conjuncts(node.left), ...conjuncts(node.right)] : [node];
}

function textOf(node: OperationNode): string {
  const bare = ParensNode.is(node) ? node.node : node;
  // A copy of a node may have its members in another order.
  return JSON.stringify(bare, (key, value: unknown) => {
    if (typeof value === "bigint") return { bigint: String(value) };
    // `spaced` has added spaces to that of the list.
    if (key === "sqlFragments") return (value as readonly string[]).map((text) => text.trim());
    const isNode = typeof value === "object" && value !== null && "kind" in value;
    return isNode
      ? Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : value;
  });
}

/** Returns the rows of a statement that also meet the conditions. */
export function restricted(own: WhereNode | undefined, conditions: readonly OperationNode[]): WhereNode | undefined {
  if (conditions.length === 0) return own;
  return WhereNode.create(
    both(
      own?.where,
      conditions.reduce((left, right) => AndNode.create(left, right)),
    ),
  );
}

/** The author's condition may be raw SQL with `or`, so it is put in parentheses. */
function both(own: OperationNode | undefined, condition: OperationNode): OperationNode {
  return own === undefined ? condition : AndNode.create(ParensNode.create(own), condition);
}

function derived({ node, alias }: Source, condition: OperationNode): OperationNode {
  const all = SelectQueryNode.cloneWithSelections(SelectQueryNode.createFrom([node]), [
    SelectionNode.createSelectAll(),
  ]);
  const rows = { ...all, where: WhereNode.create(condition) };
  tables.set(rows, (AliasNode.is(node) ? node.node : node) as TableNode);
  return AliasNode.create(rows, IdentifierNode.create(alias));
}

const tables = new WeakMap<OperationNode, TableNode>();

/** The table whose rows a subquery of the guard filters; `undefined` for any other node. */
export function filteredTable(node: OperationNode): TableNode | undefined {
  return tables.get(node);
}
