import { GraphQLError } from "graphql";
import type { ErrorCode } from "../../../core/error-codes.ts";

const CODE: ErrorCode = "OBJECT_LIMIT_EXCEEDED";

/** The error of an operation whose response has more objects than the limit. */
export function objectLimitError(limit: number): GraphQLError {
  return new GraphQLError(`The response contains more than ${limit} objects`, { extensions: { code: CODE } });
}
