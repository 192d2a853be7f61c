import { GraphQLError } from "graphql";
import { isInstance, toError } from "../../core/describe-error.ts";
import { PorticoError } from "../../core/portico-error.ts";
import { isForClients, isOutage } from "../../kernel/exceptions/is-for-clients.ts";
import { GraphRefusal } from "./graph-refusal.ts";

/**
 * Turns an error that was thrown before an operation ran into a refusal. An error that is not meant for clients has the
 * status 500 and is masked.
 */
export function toGraphRefusal(error: unknown): Pick<GraphRefusal, "status" | "errors" | "headers"> {
  if (isInstance(error, GraphRefusal)) return error;
  const cause = toError(error);
  if (!isInstance(cause, PorticoError))
    return { status: 500, headers: {}, errors: [new GraphQLError(cause.message, { originalError: cause })] };
  const wrapped = new GraphQLError(cause.message, { originalError: cause });
  return {
    status: isForClients(cause) || isOutage(cause) ? cause.status : 500,
    headers: cause.headers,
    errors: [wrapped],
  };
}
