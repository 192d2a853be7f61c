import { buildSchema } from "graphql";
import { describe, expect, it } from "vitest";
import { Preparer } from "../../../src/graphql/admit/preparer.ts";
import { Limits, type LimitsOptions } from "../../../src/graphql/limits/limits.ts";
import { MAX_NESTED } from "../../../src/graphql/limits/scan-tokens.ts";
import { nested, refused, refusedBy } from "../limits/fixture.ts";

describe("a document that is nested deeper than any parser should go", () => {
  const deep = nested(MAX_NESTED + 1, "a");
  const off: LimitsOptions = { depth: null, tokens: null, fields: null };

  it("exceeds the depth limit, or cannot be parsed if there is none", () => {
    expect(refused(deep, { limits: { tokens: null, depth: 20 } })).toBe(
      `400 DEPTH_LIMIT_EXCEEDED: The document is nested more than ${MAX_NESTED} levels deep; the limit is 20`,
    );
    expect(refused(deep, { limits: off })).toBe(
      `400 GRAPHQL_PARSE_FAILED: The document is nested more than ${MAX_NESTED} levels deep`,
    );
    expect(refused(nested(MAX_NESTED - 1, "a"), { limits: off })).not.toContain("levels deep");
  });
});

describe("the root field of a subscription", () => {
  const schema = buildSchema("type Query { a: Int } type Subscription { a: Int b: Int o: O } type O { n: Int }");
  const preparer = new Preparer(schema, { limits: new Limits(), introspection: true });
  const refusal = (source: string): string => refusedBy(() => preparer.prepare(preparer.choose(source, null)));
  const forbidden = (subject: string): string =>
    `400 GRAPHQL_VALIDATION_FAILED: ${subject} must not use \`@skip\` or \`@include\` directives in the top level selection.`;

  it.each([
    "subscription { a @skip(if: false) }",
    "subscription { a @include(if: true) }",
    "subscription ($x: Boolean!) { a @include(if: $x) }",
    "subscription { ... @include(if: true) { a } }",
    "subscription { ... { a @skip(if: false) } }",
    "subscription { ...F @skip(if: false) } fragment F on Subscription { a }",
    "subscription { ...F } fragment F on Subscription { ...G } fragment G on Subscription { ... { a @skip(if: false) } }",
  ])("must not have a condition: %s", (source) => {
    expect(refusal(source)).toBe(forbidden("Anonymous Subscription"));
    expect(refusal(source.replace("subscription", "subscription Named"))).toBe(forbidden('Subscription "Named"'));
  });

  it.each([
    "subscription { a }",
    "subscription { o { n @skip(if: true) ... @include(if: true) { n } } }",
    "subscription { ...F ...F } fragment F on Subscription { a ... { a } }",
    "query ($x: Boolean!) { a @skip(if: $x) b: a @include(if: true) }",
  ])("is accepted without one: %s", (source) => {
    expect(refusal(source)).toBe("not refused");
  });

  it("is the only one", () => {
    expect(refusal("subscription { a b }")).toMatch(/must select only one top level field/);
    expect(refusal("subscription { ...F b } fragment F on Subscription { a }")).toMatch(/only one top level field/);
  });

  it("is reported with the places of its conditions", () => {
    const source = "subscription { a @skip(if: false) ... @include(if: true) { a } }";

    expect(() => preparer.prepare(preparer.choose(source, null))).toThrow(
      expect.objectContaining({
        errors: [
          expect.objectContaining({
            locations: [
              { line: 1, column: 18 },
              { line: 1, column: 39 },
            ],
          }),
        ],
      }) as Error,
    );
  });
});
