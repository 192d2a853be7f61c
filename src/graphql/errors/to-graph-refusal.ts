import { GraphQLError } from "graphql";
import { PorticoError } from "../../core/portico-error.ts";
import { HttpException } from "../../http/context/http-exception.ts";
import { GraphRefusal } from "../execute/graph-refusal.ts";

/** What was thrown before an operation ran, as a refusal. What is no answer stays inside: 500, and masked. */
export function toGraphRefusal(error: unknown): Pick<GraphRefusal, "status" | "errors" | "headers"> {
  if (error instanceof GraphRefusal) return error;
  const cause = error instanceof Error ? error : new Error(`something that is no error was thrown: ${String(error)}`);
  if (!(cause instanceof PorticoError))
    return { status: 500, headers: {}, errors: [new GraphQLError(cause.message, { originalError: cause })] };
  const isAnswer = cause instanceof HttpException || cause.status < 500 || cause.status === 503;
  const wrapped = new GraphQLError(cause.message, { originalError: cause });
  return { status: isAnswer ? cause.status : 500, headers: cause.headers, errors: [wrapped] };
}
