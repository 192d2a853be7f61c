import type { PorticoApp } from "portico";
import type { LiveClient, TestClient } from "portico/testing";
import type { Form } from "./forms.ts";
import type { GraphSockets } from "./graph-sockets.ts";
import type { Identity } from "./identities.ts";
import type { Owner, Verdict } from "./model.ts";
import type { Probe } from "./probe.ts";

/** The application that places are declared in. */
export interface Site {
  readonly app: PorticoApp;
  readonly query: Record<string, unknown>;
  readonly mutation: Record<string, unknown>;
  readonly subscription: Record<string, unknown>;
  /** Options of a second GraphQL endpoint, which a place may guard. */
  readonly endpoint: { auth?: never };
  readonly probe: Probe;
}

/** The options of a place. Both are empty if the check of the place is left out on purpose. */
export interface Guard {
  readonly gate: { readonly auth?: never };
  /** Drops the gate around the place. */
  readonly open: { readonly auth?: false };
}

export type Transport = "inject" | "http" | "upgrade" | "post" | "get" | "batch" | "multipart" | "websocket" | "sse";

/** One request of the matrix. */
export interface Visit {
  readonly client: LiveClient;
  readonly inject: TestClient;
  readonly sockets: GraphSockets;
  readonly transport: Transport;
  readonly identity: Identity;
  readonly owner: Owner;
}

/** What a client sees: the visible outcome, and everything that was sent to it. */
export interface Seen {
  readonly shown: unknown;
  readonly text: string;
}

/** What the model says about one request. */
export interface View {
  readonly transport: Transport;
  readonly identity: Identity;
  readonly owner: Owner;
  /** The verdict about an object, or about the place if it has none. */
  readonly verdict: (owner: Owner) => Verdict;
}

/** What a client must see, and the owners whose values are computed and sent. */
export interface Sight {
  readonly shown: unknown;
  readonly revealed: readonly Owner[];
  /** How the unit of work of a mutation ends. */
  readonly outcome?: "success" | "failure";
}

/** A place that the option `auth` guards. */
export interface Place {
  readonly name: string;
  /** Whether there is an object, so that rules can decide about it. */
  readonly hasObject: boolean;
  /** Whether one request is about the objects of all owners, as in a list. */
  readonly isList?: boolean;
  readonly transports: readonly Transport[];
  /** Whether the place can have this gate. */
  takes?(form: Form): boolean;
  /** The gate in effect, if it is not the declared one alone. */
  inEffect?(form: Form): Form;
  /** Whether the place drops the gate around it, so that its check is the one that drops. */
  readonly drops?: boolean;
  declare(site: Site, guard: Guard): unknown;
  visit(visit: Visit): Promise<Seen>;
  expected(view: View): Sight;
}
