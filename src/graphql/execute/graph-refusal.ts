import { GraphQLError } from "graphql";
import { type ErrorCode, errorCodes } from "../../core/error-codes.ts";

/**
 * A request that does not get as far as being executed: the answer has this status and these errors, and no data.
 * Every one of the errors has a code in its `extensions`.
 */
export class GraphRefusal extends Error {
  override readonly name: string = "GraphRefusal";
  /** The HTTP status that says the same. */
  readonly status: number;
  readonly errors: readonly GraphQLError[];
  /** Headers that belong to the answer. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, errors: readonly GraphQLError[], headers: Readonly<Record<string, string>> = {}) {
    super(errors[0]?.message);
    this.status = status;
    this.errors = errors;
    this.headers = headers;
  }
}

/** A refusal for one reason, in one sentence. */
export function graphRefusal(
  code: ErrorCode,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): GraphRefusal {
  return new GraphRefusal(errorCodes[code], [new GraphQLError(message, { extensions: { code } })], headers);
}

/** A refusal for what graphql found, each error with the code. */
export function graphRefusalOf(code: ErrorCode, errors: readonly GraphQLError[]): GraphRefusal {
  return new GraphRefusal(
    errorCodes[code],
    errors.map((error) => withCode(error, code)),
  );
}

/** Making the error again would look for its place in the document again. */
function withCode(error: GraphQLError, code: ErrorCode): GraphQLError {
  if (error.originalError !== undefined) return changed(error, error.message, code);
  error.extensions["code"] = code;
  return error;
}

/**
 * The same error with another message, or with a code. What a scalar threw over a literal is in its message, and is meant for
 * the client: as the cause it would be taken for something unexpected.
 */
export function changed(error: GraphQLError, message: string, code?: ErrorCode): GraphQLError {
  const { nodes = null, source = null, positions = null, path = null } = error;
  const extensions = code === undefined ? error.extensions : { ...error.extensions, code };
  return new GraphQLError(message, { nodes, source, positions, path, extensions });
}
