import { field } from "../declare/fields/field.ts";
import { nodeOf } from "../declare/fields/node-of.ts";
import { ResolverError } from "../declare/references/resolver-error.ts";
import type { AnyRef, ObjectNode } from "../declare/references/type-node.ts";
import { type ListType, list, nullable } from "../declare/types/list-type.ts";
import { type ObjectType, object } from "../declare/types/object-type.ts";
import { boolean, int, string } from "../declare/types/scalars.ts";
import { typeGate } from "../declare/types/type-gate.ts";
import type { Edge, ListConnection, PageInfo as PageInfoValue } from "./list-connection.ts";

// All fields over the same object type share one connection type.
const byNode = new WeakMap<ObjectNode, ObjectType<ListConnection<unknown>>>();

/** The connection type of an object type: `BookConnection` for `Book`. */
export function connectionType(type: AnyRef): ObjectType<ListConnection<unknown>> {
  const node = nodeOf("connection", type);
  if (node.kind !== "object")
    throw new ResolverError("connection", "the first argument must be an object type made by object()");
  const known = byNode.get(node);
  if (known !== undefined) return known;
  const made = makeConnection({ "~kind": "object", "~node": node, name: node.name });
  byNode.set(node, made);
  return made;
}

/** If the type has a gate, items may be null: those that the two halves of a rule disagree about. */
function makeConnection(Node: ObjectType<unknown>): ObjectType<ListConnection<unknown>> {
  const isGated = typeGate(Node["~node"] as ObjectNode) !== null;
  const itemsOf = (type: ObjectType<any>): ListType<readonly unknown[], never> =>
    isGated ? (nullable(list(nullable(type))) as never) : (list(type) as never);
  const BookEdge: ObjectType<Edge<unknown>> = object(
    `${Node.name}Edge`,
    {
      cursor: field(string, { description: "The position of the item in the list, for after and before." }),
      node: Node,
    },
    { description: `An item in a list of ${Node.name}.` },
  );
  const BookConnection: ObjectType<ListConnection<unknown>> = object(
    `${Node.name}Connection`,
    {
      edges: field(itemsOf(BookEdge), { reads: ["edges"] })(({ parent }: Of<"edges">) => parent.edges()),
      nodes: field(itemsOf(Node), { description: "The items without their cursors.", reads: ["nodes"] })(
        ({ parent }: Of<"nodes">) => parent.nodes(),
      ),
      pageInfo: field(PageInfo, { reads: ["pageInfo"] })(({ parent }: Of<"pageInfo">) => parent.pageInfo()),
      totalCount: field(nullable(int), {
        description: "The number of items in the whole list, counted only if this field is selected.",
        reads: ["totalCount"],
      })(({ parent }: Of<"totalCount">) => parent.totalCount()),
    },
    { description: `A page of a list of ${Node.name}.` },
  );
  return BookConnection;
}

interface Of<K extends keyof ListConnection<unknown>> {
  readonly parent: Pick<ListConnection<unknown>, K>;
}

const PageInfo: ObjectType<PageInfoValue> = object(
  "PageInfo",
  {
    hasNextPage: boolean,
    hasPreviousPage: boolean,
    startCursor: nullable(string),
    endCursor: nullable(string),
  },
  { description: "The position of a page in its list." },
);
