import { buildSchema, parse, validate } from "graphql";
import { subscriptionConditionsRule } from "../../src/graphql/execute/subscription-conditions-rule.ts";
import { BODY, BODY_MS, type Reader, repeating } from "./reader.ts";

const types = buildSchema("type Query { one: Int } type Subscription { never: Int }");

/** Rules of Portico that read documents. The limits would refuse such long documents before the rules read them. */
export function documentReaders(): readonly Reader[] {
  return [
    {
      name: "the conditions of a subscription",
      most: BODY / 2,
      // graphql parses a quarter of a million tokens, and locates each condition.
      mostMs: 5 * BODY_MS,
      texts: [
        chainOfFragments,
        repeating("never @skip(if: true) ", "subscription { ", "}"),
        repeating("\n", "subscription {", `${"never @skip(if: true) ".repeat(100)}}`),
      ],
      read: async (text) => (validate(types, parse(text), [subscriptionConditionsRule]).length === 1 ? 400 : 200),
      outcomes: [400],
    },
  ];
}

function chainOfFragments(size: number): string {
  const count = Math.floor(size / 64);
  const fragments = Array.from(
    { length: count },
    (_, at) => `fragment F${at} on Subscription { ...F${at + 1} @skip(if: true) }`,
  );
  return `subscription { ...F0 } ${fragments.join(" ")} fragment F${count} on Subscription { never }`;
}
