import { GraphQLError } from "graphql";
import { PorticoError } from "../../core/portico-error.ts";
import { isForClients, isOutage } from "../../http/exceptions/is-for-clients.ts";
import { GraphRefusal } from "../execute/graph-refusal.ts";

/**
 * Turns an error that was thrown before an operation ran into a refusal. An error that is not meant for clients has the
 * status 500 and is masked.
 */
export function toGraphRefusal(error: unknown): Pick<GraphRefusal, "status" | "errors" | "headers"> {
  if (error instanceof GraphRefusal) return error;
  const cause = error instanceof Error ? error : new Error(`a value that is not an Error was thrown: ${String(error)}`);
  if (!(cause instanceof PorticoError))
    return { status: 500, headers: {}, errors: [new GraphQLError(cause.message, { originalError: cause })] };
  const wrapped = new GraphQLError(cause.message, { originalError: cause });
  return {
    status: isForClients(cause) || isOutage(cause) ? cause.status : 500,
    headers: cause.headers,
    errors: [wrapped],
  };
}
