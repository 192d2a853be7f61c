import { GraphQLError } from "graphql";
import { type ErrorCode, errorCodes } from "../../core/error-codes.ts";

/**
 * Rejects a request before it is executed: the response has this status and these errors, and no data.
 * Every error has a code in its `extensions`.
 */
export class GraphRefusal extends Error {
  override readonly name: string = "GraphRefusal";
  /** The HTTP status of the response. */
  readonly status: number;
  readonly errors: readonly GraphQLError[];
  /** Headers to add to the response. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, errors: readonly GraphQLError[], headers: Readonly<Record<string, string>> = {}) {
    super(errors[0]?.message);
    this.status = status;
    this.errors = errors;
    this.headers = headers;
  }
}

/** Creates a refusal with one error. */
export function graphRefusal(
  code: ErrorCode,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): GraphRefusal {
  return new GraphRefusal(errorCodes[code], [new GraphQLError(message, { extensions: { code } })], headers);
}

/** Creates a refusal from graphql's own errors, and sets the code on each. */
export function graphRefusalOf(code: ErrorCode, errors: readonly GraphQLError[]): GraphRefusal {
  return new GraphRefusal(
    errorCodes[code],
    errors.map((error) => withCode(error, code)),
  );
}

/** Changes the error in place where possible: a new one would compute its location in the document again. */
function withCode(error: GraphQLError, code: ErrorCode): GraphQLError {
  if (error.originalError !== undefined) return changed(error, error.message, code);
  error.extensions["code"] = code;
  return error;
}

/**
 * Copies an error with another message or code, but without its cause: an error that a scalar threw over a literal is already
 * in the message, and as a cause it would be masked as unexpected.
 */
export function changed(error: GraphQLError, message: string, code?: ErrorCode): GraphQLError {
  const { nodes = null, source = null, positions = null, path = null } = error;
  const extensions = code === undefined ? error.extensions : { ...error.extensions, code };
  return new GraphQLError(message, { nodes, source, positions, path, extensions });
}
