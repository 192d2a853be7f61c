import { type DocumentNode, GraphQLError, parse } from "graphql";
import { isInstance } from "../../core/describe-error.ts";
import { graphRefusal, graphRefusalOf } from "../errors/graph-refusal.ts";
import { RequestSource } from "../errors/request-source.ts";
import type { Limits } from "../limits/limits.ts";
import { MAX_NESTED, scanTokens } from "../limits/scan-tokens.ts";
import { type Fragments, fragmentsOf } from "../selection/fragments-of.ts";

/** A document that parses. */
export interface ReadDocument {
  readonly document: DocumentNode;
  readonly fragments: Fragments;
  readonly tokens: number;
}

/** Throws `GraphRefusal` for a document that is too long, before its text is read. */
export function checkLength({ length }: string, { characters }: Limits): void {
  if (characters !== null && length > characters)
    throw graphRefusal("CHARACTER_LIMIT_EXCEEDED", `The document has ${length} characters; the limit is ${characters}`);
}

/** Parses a document. Throws `GraphRefusal` for too many tokens and for a syntax error. */
export function readDocument(source: string, limits: Limits): ReadDocument {
  const { tokens, nesting } = scanTokens(source, limits.tokens ?? Number.POSITIVE_INFINITY);
  if (limits.tokens !== null && tokens > limits.tokens)
    throw graphRefusal(
      "TOKEN_LIMIT_EXCEEDED",
      `The document has at least ${tokens} tokens; the limit is ${limits.tokens}`,
    );
  if (nesting > MAX_NESTED) throw nestedTooDeeply(limits);
  const document = tryParse(source, limits);
  return { document, fragments: fragmentsOf(document), tokens };
}

function tryParse(text: string, { tokens }: Limits): DocumentNode {
  const source = new RequestSource(text);
  try {
    // The tokens are counted already. The parser's limit is a safeguard in case it reads the text differently.
    const document = parse(source, tokens === null ? {} : { maxLexicalTokens: tokens, maxComments: tokens });
    if (document.loc !== undefined) source.dropLongText(document.loc);
    return document;
  } catch (error) {
    if (isInstance(error, GraphQLError)) throw graphRefusalOf("GRAPHQL_PARSE_FAILED", [error]);
    throw error;
  }
}

function nestedTooDeeply({ depth }: Limits): Error {
  return depth === null
    ? graphRefusal("GRAPHQL_PARSE_FAILED", `The document is nested more than ${MAX_NESTED} levels deep`)
    : graphRefusal(
        "DEPTH_LIMIT_EXCEEDED",
        `The document is nested more than ${MAX_NESTED} levels deep; the limit is ${depth}`,
      );
}
