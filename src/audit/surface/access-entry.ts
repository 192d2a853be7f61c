import type { Callable } from "../../dependencies/depend.ts";
import type { DeclaredObject } from "../../kernel/access/authorized.ts";
import type { GateNode } from "../../kernel/access/gate-node.ts";

export const entryKinds = [
  "route",
  "socket",
  "query",
  "mutation",
  "subscription",
  "field",
  "type",
  "list",
  "object",
  "system",
] as const;
export type EntryKind = (typeof entryKinds)[number];

/** A place of an application that a caller can reach. */
export interface AccessEntry {
  readonly kind: EntryKind;
  /**
   * `GET /orders`, `WebSocket /news`, `Query.orders`, `Order` or `Order.buyer`; for an object that a handler declares, with the
   * name of the parameter: `GET /orders/:id: order`.
   */
  readonly place: string;
  /** The gate that a caller must pass here: for a field, with the gate of the endpoint. `null` if it is open to anyone. */
  readonly gate: GateNode | null;
  /** Whether Portico declared the place, such as a route of accounts. */
  readonly isBuiltIn?: boolean;
  /** Whether it is a GraphQL endpoint, whose fields are listed as well. */
  readonly isEndpoint?: boolean;
  /** The gate of the objects that a field returns: the caller gets those that it allows. */
  readonly objects?: GateNode | null;
  /** The URL path of the endpoint, for a place in a GraphQL schema. */
  readonly endpoint?: string;
  /** Loads an object that a handler declares. */
  readonly load?: Callable;
}

/** The objects that a handler declares, by the names of its parameters. `endpoint` is the one of the schema. */
export function objectEntries(
  place: string,
  objects: ReadonlyMap<string, DeclaredObject>,
  endpoint: { readonly endpoint?: string } = {},
): readonly AccessEntry[] {
  return [...objects].map(([name, object]) => ({ kind: "object", place: `${place}: ${name}`, ...object, ...endpoint }));
}

/** The place of the handler that declares an object; otherwise the place itself. */
export function handlerPlace({ kind, place }: AccessEntry): string {
  return kind === "object" ? place.replace(/: [^:/ ]*(?= at |$)/, "") : place;
}
