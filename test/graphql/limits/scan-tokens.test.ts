import * as fc from "fast-check";
import { GraphQLError, getIntrospectionQuery, Lexer, Source, TokenKind } from "graphql";
import { describe, expect, it } from "vitest";
import { scanTokens } from "../../../src/graphql/limits/scan-tokens.ts";
import { nested } from "./fixture.ts";

const ALL = Number.POSITIVE_INFINITY;

/** What graphql's lexer counts, comments included; `null` for what it refuses. */
function lexed(source: string): number | null {
  const lexer = new Lexer(new Source(source));
  const first = lexer.token;
  try {
    while (lexer.advance().kind !== TokenKind.EOF);
  } catch (error) {
    if (error instanceof GraphQLError) return null;
    throw error;
  }
  let count = 0;
  for (let token = first.next; token !== null && token?.kind !== TokenKind.EOF; token = token?.next ?? null) count++;
  return count;
}

const piece = fc.constantFrom(
  ..."{ } ( ) [ ] ! $ & : = @ | ... name _a1 on 0 -12 1.5 -1.5e-10 2E+3 3e4".split(" "),
  '""',
  '"text"',
  '"a \\" b \\\\"',
  '"\\u00e9"',
  '""""""',
  '"""block "" \\""" \\\\""" " """',
  '"""\n#no\n"""',
  "# comment {\n",
  "#\r",
  ",",
  "\ufeff",
  "\t",
  "\r\n",
);

describe("the count of tokens", () => {
  it("equals that of graphql's lexer, for any tokens", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(piece, fc.constantFrom(" ", "\n", ",")), { maxLength: 40 }), (pieces) => {
        const source = pieces.flat().join("");
        const count = lexed(source);

        fc.pre(count !== null);
        expect(scanTokens(source, ALL).tokens).toBe(count);
      }),
      { numRuns: 1000 },
    );
  });

  it.each([
    ['"""a \\""" b""" c', 2],
    ['"""\\"""""" a', 2],
    ['"""a""" """b"""', 2],
    ['"a\\"b" "c', 2],
    ["z Z _z9 9 -9.9e9", 5],
    ["[a}(b)]", 7],
  ])("of %s is %d", (source, tokens) => {
    expect(scanTokens(source, ALL).tokens).toBe(tokens);
  });

  it("equals it for any text that the lexer accepts, and never fails for other text", () => {
    const text = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.string({ unit: fc.constantFrom(...'{ } " \\ . # - 1 e , a'.split(" "), "\n") }),
    );
    fc.assert(
      fc.property(text, (source) => {
        const { tokens } = scanTokens(source, ALL);

        expect(tokens).toBeLessThanOrEqual(source.length);
        expect(tokens).toBe(lexed(source) ?? tokens);
      }),
      { numRuns: 1000 },
    );
  });

  it("is within 163 and 191 for the standard introspection query", () => {
    const { tokens } = scanTokens(getIntrospectionQuery(), ALL);

    expect(tokens).toBe(lexed(getIntrospectionQuery()));
    expect(tokens).toBeGreaterThanOrEqual(163);
    expect(tokens).toBeLessThanOrEqual(191);
  });

  it("stops at one more than the maximum", () => {
    expect(scanTokens("#\n".repeat(300_000), 2000).tokens).toBe(2001);
    expect(scanTokens(nested(5000, "a"), 2000).tokens).toBe(2001);
  });

  it("includes how deeply brackets nest, except those in strings", () => {
    expect(scanTokens('{ a(b: [{ c: "{{{{" }]) { d } } # {{{{\n { e }', ALL).nesting).toBe(4);
    expect(scanTokens("{ a } { b } [ c ] [ d ] ( e ) ( f )", ALL).nesting).toBe(1);
  });
});
