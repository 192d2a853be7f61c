import { GraphQLError } from "graphql";
import type { ErrorCode } from "../../core/error-codes.ts";
import type { BaseContext } from "../../http/context/http-context.ts";
import { type FormattedError, formatError, isUnexpected } from "./format-error.ts";

/** How many errors of one operation are sent and logged, before an entry with the number of the others. */
export const MOST_ERRORS = 10;

const MORE: ErrorCode = "TOO_MANY_ERRORS";

/**
 * Formats the errors of one operation and writes one log line for each entry. Beyond ten and one more, an entry with their
 * number stands for the rest: a list of a thousand refused fields is one mistake. Unexpected errors are listed before others.
 */
export function formatErrors(
  errors: readonly GraphQLError[],
  ctx: BaseContext,
  isDebug: boolean,
): readonly FormattedError[] {
  const format = (error: GraphQLError): FormattedError => formatError(error, ctx, isDebug);
  // The entry with the number would take the place of a single error.
  if (errors.length <= MOST_ERRORS + 1) return errors.map(format);
  const listed = mostTelling(errors);
  return [...listed, moreErrors(errors.length - listed.length)].map(format);
}

/** By their places: one and the same error may stand there many times. */
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

/** How many errors there were, those included that are not listed. */
export function countErrors(errors: readonly FormattedError[]): number {
  return errors.reduce((sum, { extensions: { code, count } }) => sum + (code === MORE ? Number(count) : 1), 0);
}
