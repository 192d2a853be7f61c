import { type DocumentNode, GraphQLError, parse } from "graphql";
import { type Fragments, fragmentsOf } from "../limits/fold.ts";
import type { Limits } from "../limits/limits.ts";
import { MOST_NESTED, scan } from "../limits/scan.ts";
import { refusal, refusalOf } from "./refusal.ts";

/** A document that parses. */
export interface ReadDocument {
  readonly document: DocumentNode;
  readonly fragments: Fragments;
  readonly tokens: number;
}

/** Parses a document. Throws `GraphRefusal` for one that has too many tokens, and for one that does not parse. */
export function readDocument(source: string, limits: Limits): ReadDocument {
  const { tokens, nesting } = scan(source, limits.tokens ?? Number.POSITIVE_INFINITY);
  if (limits.tokens !== null && tokens > limits.tokens)
    throw refusal("TOKEN_LIMIT_EXCEEDED", `The document has ${tokens} tokens or more, the limit is ${limits.tokens}`);
  if (nesting > MOST_NESTED) throw nestedTooDeeply(limits);
  const document = tryParse(source, limits);
  return { document, fragments: fragmentsOf(document), tokens };
}

function tryParse(source: string, { tokens }: Limits): DocumentNode {
  try {
    // Counted already; the parser's own count stands by for what it would read otherwise.
    return parse(source, tokens === null ? {} : { maxLexicalTokens: tokens, maxComments: tokens });
  } catch (error) {
    if (error instanceof GraphQLError) throw refusalOf("GRAPHQL_PARSE_FAILED", [error]);
    throw error;
  }
}

function nestedTooDeeply({ depth }: Limits): Error {
  return depth === null
    ? refusal("GRAPHQL_PARSE_FAILED", `The document is nested more than ${MOST_NESTED} levels deep`)
    : refusal(
        "DEPTH_LIMIT_EXCEEDED",
        `The document is nested more than ${MOST_NESTED} levels deep, the limit is ${depth}`,
      );
}
