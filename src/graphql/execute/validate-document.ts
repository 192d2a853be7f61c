import {
  type DocumentNode,
  type GraphQLSchema,
  OverlappingFieldsCanBeMergedRule,
  specifiedRules,
  validate,
} from "graphql";
import type { Fragments } from "../limits/fold.ts";
import { findOverlaps } from "../limits/overlaps.ts";
import { refusal, refusalOf } from "./refusal.ts";
import { hideSuggestions } from "./suggestions.ts";

const MOST_ERRORS = 20;

const linearRules = specifiedRules.filter((rule) => rule !== OverlappingFieldsCanBeMergedRule);

/**
 * Validates the whole document, the operations that were not chosen too, as graphql's specification has it. Throws
 * `GraphRefusal`. The one rule that compares fields in pairs runs only where fields differ and the pairs are few.
 */
export function validateDocument(
  schema: GraphQLSchema,
  document: DocumentNode,
  fragments: Fragments,
  suggests: boolean,
): void {
  const overlaps = findOverlaps(schema, document, fragments);
  const rules = overlaps === "differ" ? specifiedRules : linearRules;
  const errors = validate(schema, document, rules, { maxErrors: MOST_ERRORS, hideSuggestions: !suggests });
  if (errors.length > 0) throw refusalOf("GRAPHQL_VALIDATION_FAILED", suggests ? errors : errors.map(hideSuggestions));
  if (overlaps === "too many")
    throw refusal(
      "GRAPHQL_VALIDATION_FAILED",
      "The document selects too many fields under the same names to tell whether they conflict",
    );
}
