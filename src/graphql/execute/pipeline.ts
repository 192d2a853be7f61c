import type { GraphQLSchema } from "graphql";
import type { Documents } from "../documents/documents.ts";
import type { OperationHooks } from "../hooks/operation-hooks.ts";
import type { Limits } from "../limits/limits.ts";
import type { Preparer } from "./preparer.ts";

/** What every operation of an endpoint has in common. */
export interface Pipeline {
  readonly schema: GraphQLSchema;
  readonly preparer: Preparer;
  readonly limits: Limits;
  readonly documents: Documents;
  readonly hooks: OperationHooks;
  readonly isDebug: boolean;
  /** How long an operation on a socket may take, and an event; over HTTP the route says so. 0 is for ever. */
  readonly timeoutMs: number;
}
