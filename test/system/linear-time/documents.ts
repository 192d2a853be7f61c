import { buildSchema, Kind, type OperationDefinitionNode, parse, validate } from "graphql";
import { subscriptionConditionsRule } from "../../../src/graphql/admit/subscription-conditions-rule.ts";
import { compileActualCost } from "../../../src/graphql/limits/actual-cost.ts";
import { scanTokens } from "../../../src/graphql/limits/scan-tokens.ts";
import { BODY, BODY_MS, type Reader, repeating } from "./reader.ts";

const types = buildSchema("type Query { one: Int self: Query } type Subscription { never: Int }");

/** Rules of Portico that read documents. The limits would refuse such long documents before the rules read them. */
export function documentReaders(): readonly Reader[] {
  return [
    {
      name: "the text of a document, before it is parsed",
      most: BODY / 2,
      mostMs: BODY_MS,
      texts: DOCUMENTS,
      read: async (text) => (scanTokens(text, Number.POSITIVE_INFINITY).tokens > 0 ? 200 : 500),
      outcomes: [200],
    },
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
    {
      name: "the actual cost of a response",
      most: BODY / 2,
      mostMs: 5 * BODY_MS,
      texts: [
        repeating("self { ...F } ", "{ ", "} fragment F on Query { one }"),
        repeating(
          "self { self { one } ...F } ",
          "{ ",
          "} fragment F on Query { self { ...G } } fragment G on Query { one }",
        ),
        repeating("... on Query { self { one } } ", "{ ", "}"),
        (size) => `{ ${Array.from({ length: size / 12 }, (_, at) => `k${at}: one`).join(" ")} self { one } }`,
      ],
      read: async (text) => ((await actualCost(text)) > 0 ? 200 : 500),
      outcomes: [200],
    },
  ];
}

const DOCUMENTS: Reader["texts"] = [
  repeating("a"),
  repeating("a "),
  repeating("1"),
  repeating("#"),
  repeating("#\n"),
  repeating("\n", "", "a"),
  repeating("[]"),
  repeating('\\"', '"'),
  repeating('""'),
  repeating('\\"""', '"""'),
  repeating('"""a"""'),
];

/** Returns the cost of a response that grows with the document. */
function actualCost(text: string): Promise<number> {
  const { definitions } = parse(text);
  const fragments = new Map(
    definitions.flatMap((node) => (node.kind === Kind.FRAGMENT_DEFINITION ? [[node.name.value, node]] : [])),
  );
  const items = Array.from({ length: text.length / 50 }, () => ({ one: 1, self: { one: 1 } }));
  return compileActualCost(types, definitions[0] as OperationDefinitionNode, fragments)({ self: items });
}

function chainOfFragments(size: number): string {
  const count = Math.floor(size / 64);
  const fragments = Array.from(
    { length: count },
    (_, at) => `fragment F${at} on Subscription { ...F${at + 1} @skip(if: true) }`,
  );
  return `subscription { ...F0 } ${fragments.join(" ")} fragment F${count} on Subscription { never }`;
}
