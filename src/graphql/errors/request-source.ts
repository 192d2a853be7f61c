import { type GraphQLError, type Location, Source, type SourceLocation } from "graphql";

/** With fewer line breaks, finding a location costs less than creating its error. */
const MAX_LINES = 100;

/**
 * The text of a request's document. For each error, graphql counts the line breaks before every node that the error
 * names, so many errors in a text with many line breaks would block the process. Such a text is therefore dropped after
 * parsing, and the locations are read from the tokens.
 */
export class RequestSource extends Source {
  /** Call it with the location of the parsed document. */
  dropLongText({ endToken }: Location): void {
    if (endToken.line > MAX_LINES) this.body = "";
  }
}

/** The locations of an error in its document, in time linear in the nodes that it names. */
export function locationsOf({ source, nodes, locations }: GraphQLError): readonly SourceLocation[] | undefined {
  if (!(source instanceof RequestSource) || source.body !== "" || nodes === undefined) return locations;
  return nodes.flatMap(({ loc }) => (loc === undefined ? [] : placeOf(loc)));
}

function placeOf({ startToken: { line, column } }: Location): SourceLocation {
  // A document starts at a token before its first one, and that token has line 0.
  return { line: Math.max(line, 1), column: Math.max(column, 1) };
}
