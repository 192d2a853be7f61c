import {
  type GraphQLSchema,
  OverlappingFieldsCanBeMergedRule,
  SingleFieldSubscriptionsRule,
  specifiedRules,
  validate,
} from "graphql";
import { MAX_ERRORS } from "../errors/format-errors.ts";
import { graphRefusal, graphRefusalOf } from "../errors/graph-refusal.ts";
import { findOverlaps } from "../limits/find-overlaps.ts";
import type { Limits } from "../limits/limits.ts";
import { isGraphql17 } from "../selection/is-graphql17.ts";
import { hideSuggestions } from "./hide-suggestions.ts";
import type { ReadDocument } from "./read-document.ts";
import { subscriptionConditionsRule } from "./subscription-conditions-rule.ts";

// The budget is that of ten operations of the largest allowed size. Without a size limit, 10,000 fields are more than
// anyone writes by hand.
const MAX_OPERATIONS = 10;
const LARGE = 10_000;

const allRules = isGraphql17
  ? specifiedRules
  : specifiedRules.map((rule) => (rule === SingleFieldSubscriptionsRule ? subscriptionConditionsRule : rule));
const linearRules = allRules.filter((rule) => rule !== OverlappingFieldsCanBeMergedRule);

type Parsed = Pick<ReadDocument, "document" | "fragments">;

interface ValidationOptions {
  readonly limits: Limits;
  /** Whether errors may suggest names from the schema. */
  readonly introspection: boolean;
}

/**
 * Validates the whole document, as the GraphQL specification requires, including operations that were not chosen. Throws
 * `GraphRefusal`. The rule that compares fields in pairs runs only where fields differ and the pairs are few.
 */
export function validateDocument(
  schema: GraphQLSchema,
  { document, fragments }: Parsed,
  options: ValidationOptions,
): void {
  const { limits, introspection: suggests } = options;
  const overlaps = findOverlaps(schema, document, fragments, MAX_OPERATIONS * (limits.fields ?? LARGE));
  const rules = overlaps === "differ" ? allRules : linearRules;
  const errors = validate(schema, document, rules, { maxErrors: MAX_ERRORS, hideSuggestions: !suggests });
  if (errors.length > 0)
    throw graphRefusalOf("GRAPHQL_VALIDATION_FAILED", suggests ? errors : errors.map(hideSuggestions));
  if (overlaps === "too many")
    throw graphRefusal(
      "GRAPHQL_VALIDATION_FAILED",
      "The document selects too many fields with the same names to check them for conflicts",
    );
}
