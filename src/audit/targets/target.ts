import type { Route } from "../../http/routing/route.ts";
import type { DeclaredObject } from "../../kernel/access/authorized.ts";
import type { GateNode } from "../../kernel/access/gate-node.ts";
import type { MiddlewareFunction } from "../../kernel/context/middleware-function.ts";
import type { Operation } from "./operation.ts";

/** A place with a gate, and how to ask for it. */
export interface Target {
  readonly place: string;
  readonly gate: GateNode | null;
  /** The object that its handler declares, if that is to be attacked. */
  readonly object?: DeclaredObject;
  readonly middleware: readonly MiddlewareFunction[];
  readonly request:
    | { readonly kind: "route"; readonly method: string; readonly path: string }
    | { readonly kind: "socket"; readonly path: string }
    /** The operations are alternatives, of which the first is used that finds data. Without one, no query leads there. */
    | { readonly kind: "graph"; readonly endpoint: Route; readonly operations: readonly Operation[] };
  /** Whether callers who are let in may be tried too, because they change nothing. */
  readonly isSafe: boolean;
  /** Whether there may be no object that the gate decides about. */
  readonly needsData: boolean;
  /** Another endpoint, which serves the same schema behind a gate. */
  readonly guardedAt?: string;
}
