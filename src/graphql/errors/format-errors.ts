import { GraphQLError } from "graphql";
import type { ErrorCode } from "../../core/error-codes.ts";
import type { BaseContext } from "../../http/context/http-context.ts";
import { type FormattedError, formatError, isUnexpected } from "./format-error.ts";

/** The maximum number of errors that are sent and logged for one operation. One more entry counts the others. */
export const MOST_ERRORS = 10;

const MORE: ErrorCode = "TOO_MANY_ERRORS";

/**
 * Formats the errors of one operation and writes one log line for each entry. If there are more than eleven, ten are
 * listed and the last entry holds the number of the others: a thousand denied fields in a list are one mistake.
 * Unexpected errors are listed in preference to others.
 */
export function formatErrors(
  errors: readonly GraphQLError[],
  ctx: BaseContext,
  isDebug: boolean,
): readonly FormattedError[] {
  const format = (error: GraphQLError): FormattedError => formatError(error, ctx, isDebug);
  // With one error over the maximum, the entry that counts would replace a single error.
  if (errors.length <= MOST_ERRORS + 1) return errors.map(format);
  const listed = mostTelling(errors);
  return [...listed, moreErrors(errors.length - listed.length)].map(format);
}

/** Selects errors by index, because the list may contain the same error several times. */
function mostTelling(errors: readonly GraphQLError[]): readonly GraphQLError[] {
  const { unexpected = [], expected = [] } = Object.groupBy(errors.keys(), (place) =>
    isUnexpected(errors[place] as GraphQLError) ? "unexpected" : "expected",
  );
  const places = new Set([...unexpected, ...expected].slice(0, MOST_ERRORS));
  return errors.filter((_error, place) => places.has(place));
}

function moreErrors(count: number): GraphQLError {
  return new GraphQLError(`${count} more errors are not listed`, { extensions: { code: MORE, count } });
}
