import {
  type FieldNode,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  getNamedType,
  type SelectionSetNode,
} from "graphql";
import { columnsRead } from "../../kernel/access/gate-node.ts";
import { memoOf } from "../../kernel/context/memo-of.ts";
import type { FieldCall, Reads } from "../declare/fields/field-declaration.ts";
import { gateIn } from "../declare/fields/gate-extensions.ts";
import { allReads, readsOf } from "../declare/fields/reads-of.ts";
import { type CollectScope, type Conditions, collectFields } from "../selection/collect-fields.ts";
import { isGraphql17 } from "../selection/is-graphql17.ts";

/** The columns that the selections of one operation need. */
interface Known {
  readonly nodes: readonly FieldNode[];
  readonly variables: unknown;
  readonly columns: Reads;
}

/** The columns that a query needs of the items of a connection. */
export class SelectedColumns {
  /** Returns the columns that the fields below this call need, or `null` if they are unknown. */
  of({ graph, info }: FieldCall): Reads {
    const known = memoOf<Known[]>(graph.connection, this, () => []);
    const { fieldNodes: nodes, variableValues: variables } = info;
    const same = known.find((one) => one.variables === variables && isSame(one.nodes, nodes));
    if (same !== undefined) return same.columns;
    const columns = neededColumns(info)?.toSorted() ?? null;
    known.push({ nodes, variables, columns });
    return columns;
  }
}

function isSame(some: readonly FieldNode[], others: readonly FieldNode[]): boolean {
  return some.length === others.length && some.every((node, index) => node === others[index]);
}

function neededColumns({ schema, fragments, fieldNodes, returnType, ...info }: GraphQLResolveInfo): Reads {
  const scope = { schema, fragments, conditions: conditionsOf(fragments, info.variableValues) };
  const list = objectIn(returnType);
  const pages = fieldsOf(scope, list, setsOf(fieldNodes));
  const edges = pages.get("edges") ?? [];
  const edge = typeOf(list, "edges");
  const inEdges = fieldsOf(scope, edge, setsOf(edges));
  const item = typeOf(list, "nodes");
  const gate = gateIn(item);
  // The type of a value is not asked by graphql unless a tool has added the function, which may read any column.
  if (item.isTypeOf) return null;
  const items = setsOf([...(pages.get("nodes") ?? []), ...(inEdges.get("node") ?? [])]);
  return allReads([
    gate === null ? [] : columnsRead(gate),
    ownReads(list, pages, ["edges", "nodes", "pageInfo", "totalCount"]),
    ownReads(edge, inEdges, ["cursor", "node"]),
    ...[...fieldsOf(scope, item, items).keys()].map((name) => readsIn(item, name)),
  ]);
}

/** The nodes that select each field, without `__typename`. */
type Selected = ReadonlyMap<string, readonly FieldNode[]>;

function fieldsOf(
  scope: CollectScope,
  type: GraphQLObjectType,
  sets: readonly (SelectionSetNode | undefined)[],
): Selected {
  const nodes = [...collectFields(scope, type, sets).values()].flat();
  return Map.groupBy(
    nodes.filter(({ name }) => name.value !== "__typename"),
    ({ name }) => name.value,
  );
}

function readsIn(type: GraphQLObjectType, name: string): Reads {
  const field = type.getFields()[name];
  return field === undefined ? [] : readsOf(field);
}

/** The fields of a page need no columns, unless a tool has replaced their resolvers or added a field, which may read rows. */
function ownReads(type: GraphQLObjectType, selected: Selected, names: readonly string[]): Reads {
  const isOwn = [...selected.keys()].every((name) => names.includes(name) && readsIn(type, name) !== null);
  return isOwn ? [] : null;
}

function setsOf(nodes: readonly FieldNode[]): readonly (SelectionSetNode | undefined)[] {
  return nodes.map(({ selectionSet }) => selectionSet);
}

function typeOf(type: GraphQLObjectType, name: string): GraphQLObjectType {
  return objectIn((type.getFields()[name] as { readonly type: GraphQLOutputType }).type);
}

function objectIn(type: GraphQLOutputType): GraphQLObjectType {
  return getNamedType(type) as GraphQLObjectType;
}

/** The variables in `@skip` and `@include`. A selection whose variable is unknown here is included. */
function conditionsOf(fragments: GraphQLResolveInfo["fragments"], values: object): Conditions {
  // The parameters of a fragment have their own values.
  if (Object.values(fragments).some(({ variableDefinitions }) => (variableDefinitions?.length ?? 0) > 0))
    return new Map();
  const variables = isGraphql17 ? (values as { readonly coerced: object }).coerced : values;
  return new Map(
    Object.entries(variables).filter((entry): entry is [string, boolean] => typeof entry[1] === "boolean"),
  );
}
