import type { GateNode } from "../http/access/gate-node.ts";

export const entryKinds = ["route", "socket", "query", "mutation", "subscription", "field", "type", "list"] as const;
export type EntryKind = (typeof entryKinds)[number];

/** A place of an application that a caller can reach. */
export interface AccessEntry {
  readonly kind: EntryKind;
  /** `GET /orders`, `WebSocket /news`, `Query.orders`, `Order` or `Order.buyer`. */
  readonly place: string;
  /** The gate that a caller must pass here: for a field, with the gate of the endpoint. `null` if it is open to anyone. */
  readonly gate: GateNode | null;
  /** The gate of the objects that a field returns: the caller gets those that it allows. */
  readonly objects?: GateNode | null;
  /** The URL path of the endpoint, for a place in a GraphQL schema. */
  readonly endpoint?: string;
}
