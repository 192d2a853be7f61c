/** How a request reaches a place. */
export type Transport =
  | "HTTP"
  | "GraphQL POST"
  | "GraphQL GET"
  | "GraphQL batch"
  | "GraphQL upload"
  | "GraphQL WebSocket"
  | "GraphQL SSE"
  | "WebSocket";

/** A request whose result differs from the declaration of its place. */
export interface AttackDifference {
  /** As the access table names it: `GET /orders`, `Query.orders`. */
  readonly place: string;
  /** The URL path of the endpoint, for a place in a GraphQL schema. */
  readonly endpoint?: string;
  readonly transport: Transport;
  /** The caller: `a revoked session`. */
  readonly identity: string;
  readonly expected: "refused" | "let in" | "as by other transports";
  /** The result: `200`, `403 FORBIDDEN`. */
  readonly found: string;
  /** All of the above as a sentence. */
  readonly sentence: string;
}

/** Requests that prove nothing, because something came before the gate, or there was no data to ask for. */
export interface Unreached {
  readonly reason: string;
  /** The number of requests. */
  readonly cells: number;
  readonly places: readonly string[];
}

/** The result of an attack, as plain data. A cell is one place, by one transport, as one identity. */
export interface AttackReport {
  /** The number of places that have a gate. */
  readonly places: number;
  /** The number of cells with a result that can be compared. */
  readonly tried: number;
  readonly differences: readonly AttackDifference[];
  readonly unreached: readonly Unreached[];
  /** The limits of this attack. */
  readonly notes: readonly string[];
  /** Sign-in methods without a caller. Gates that they open were not attacked, so the attack fails. */
  readonly gaps: readonly string[];
}
