import type { GraphQLSchema } from "graphql";
import type { Documents } from "../documents/documents.ts";
import type { OperationHooks } from "../hooks/operation-hooks.ts";
import type { Limits } from "../limits/limits.ts";
import type { Preparer } from "./preparer.ts";

/** The parts of an endpoint that all of its operations share. */
export interface Pipeline {
  readonly schema: GraphQLSchema;
  readonly preparer: Preparer;
  readonly limits: Limits;
  readonly documents: Documents;
  readonly hooks: OperationHooks;
  readonly isDebug: boolean;
  /** The time limit for an operation on a socket and for an event; over HTTP the route has one. 0 disables it. */
  readonly timeoutMs: number;
}
