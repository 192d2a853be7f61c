import type { GraphQLError } from "graphql";
import { changed } from "../errors/graph-refusal.ts";

// graphql appends names in quotes. One of its messages continues after the suggestion.
const SUGGESTION =
  / Did you mean (?:the enum value |to use an inline fragment on )?"[^"]*"(?:(?:, "[^"]*")*,? or "[^"]*")?\?(?=$| Found: )/g;

/**
 * Removes graphql's "Did you mean ...?" from a validation or variable error, because it reveals names of the schema to
 * clients that may not read it. Returns an error without a suggestion unchanged.
 */
export function hideSuggestions(error: GraphQLError): GraphQLError {
  const message = error.message.replaceAll(SUGGESTION, "");
  return message === error.message ? error : changed(error, message);
}
