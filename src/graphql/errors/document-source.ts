import { type GraphQLError, type Location, Source, type SourceLocation } from "graphql";

/** In a text with fewer line breaks, finding a location costs less than the error that has it. */
const MOST_LINES = 100;

/**
 * The text of a request's document. For each error, graphql counts the line breaks before every node that the error names:
 * many errors times many line breaks would stop the process. A text with many line breaks is therefore dropped once it is
 * parsed, and the locations come from the tokens, which know theirs.
 */
export class DocumentSource extends Source {
  /** Call it with what the text was parsed to. */
  dropLongText({ endToken }: Location): void {
    if (endToken.line > MOST_LINES) this.body = "";
  }
}

/** Where in its document an error is, in time linear in the nodes that it names. */
export function locationsOf({ source, nodes, locations }: GraphQLError): readonly SourceLocation[] | undefined {
  if (!(source instanceof DocumentSource) || source.body !== "" || nodes === undefined) return locations;
  return nodes.flatMap(({ loc }) => (loc === undefined ? [] : placeOf(loc)));
}

function placeOf({ startToken: { line, column } }: Location): SourceLocation {
  // The token before the first one of a document, at which the document itself starts, stands in line 0.
  return { line: Math.max(line, 1), column: Math.max(column, 1) };
}
