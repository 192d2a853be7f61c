import type { GraphQLError } from "graphql";
import { changed } from "./graph-refusal.ts";

// What graphql appends: names in quotes. One of its sentences goes on after it.
const SUGGESTION =
  / Did you mean (?:the enum value |to use an inline fragment on )?"[^"]*"(?:(?:, "[^"]*")*,? or "[^"]*")?\?(?=$| Found: )/g;

/**
 * The error without graphql's "Did you mean ...?", which tells names of the schema to those who may not read it. For errors
 * of graphql's validation and of its coercion of variables; one without a suggestion is given back as it is.
 */
export function hideSuggestions(error: GraphQLError): GraphQLError {
  const message = error.message.replaceAll(SUGGESTION, "");
  return message === error.message ? error : changed(error, message);
}
