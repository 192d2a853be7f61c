import type { GraphQLError } from "graphql";
import type { BaseContext } from "../../kernel/context/http-context.ts";
import type { ErrorFormat } from "./error-format.ts";
import { formatError, isUnexpected } from "./format-error.ts";
import type { FormattedError } from "./formatted-error.ts";
import { MoreErrors } from "./reported-errors.ts";

/** The maximum number of errors that are sent and logged for one operation. One more entry counts the others. */
export const MAX_ERRORS = 10;

/**
 * Formats the errors of one operation and writes one log line for each entry. If there are more than eleven, ten are
 * listed and the last entry holds the number of the others: a thousand denied fields in a list are one mistake.
 * Unexpected errors are listed in preference to others.
 */
export function formatErrors(
  errors: readonly GraphQLError[],
  ctx: BaseContext,
  errorFormat: ErrorFormat,
): readonly FormattedError[] {
  const format = (error: GraphQLError): FormattedError => formatError(error, ctx, errorFormat);
  // With one error over the maximum, the entry that counts would replace a single error.
  if (errors.length <= MAX_ERRORS + 1) return errors.map(format);
  const counted = errors.find((error) => error instanceof MoreErrors)?.count ?? 0;
  const known = counted === 0 ? errors : errors.filter((error) => !(error instanceof MoreErrors));
  const listed = mostTelling(known);
  return [...listed, new MoreErrors(known.length - listed.length + counted)].map(format);
}

/** Selects errors by index, because the list may contain the same error several times. */
function mostTelling(errors: readonly GraphQLError[]): readonly GraphQLError[] {
  const { unexpected = [], expected = [] } = Object.groupBy(errors.keys(), (place) =>
    isUnexpected(errors[place] as GraphQLError) ? "unexpected" : "expected",
  );
  const places = new Set([...unexpected, ...expected].slice(0, MAX_ERRORS));
  return errors.filter((_error, place) => places.has(place));
}
