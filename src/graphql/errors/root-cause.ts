import type { GraphQLError } from "graphql";

/** The error that a resolver threw, without the errors that graphql wrapped around it. */
export function rootCause(error: GraphQLError): unknown {
  let cause: unknown = error;
  while (isGraphQLError(cause) && cause.originalError !== undefined) cause = cause.originalError;
  return cause;
}

/** Checks the brand instead of `instanceof`, because a resolver may throw the error of another copy of graphql. */
export function isGraphQLError(value: unknown): value is GraphQLError {
  return value instanceof Error && Object.prototype.toString.call(value) === "[object GraphQLError]";
}
