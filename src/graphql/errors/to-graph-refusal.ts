import { GraphQLError } from "graphql";
import { PorticoError } from "../../core/portico-error.ts";
import { HttpException } from "../../http/context/http-exception.ts";
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
  const isAnswer = cause instanceof HttpException || cause.status < 500 || cause.status === 503;
  const wrapped = new GraphQLError(cause.message, { originalError: cause });
  return { status: isAnswer ? cause.status : 500, headers: cause.headers, errors: [wrapped] };
}
