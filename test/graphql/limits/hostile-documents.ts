import { expect, it } from "vitest";
import { Preparer } from "../../../src/graphql/admit/preparer.ts";
import { Limits, type LimitsOptions } from "../../../src/graphql/limits/limits.ts";
import { fixtureSchema, nested, refusedBy } from "./fixture.ts";

/** Declares a test for each hostile document. `cpuOf` runs the work and returns the CPU time that it took, in milliseconds. */
export function hostileDocuments(cpuOf: (run: () => unknown) => number, mostMs: () => number): void {
  const expectQuick = (run: () => unknown): void => expect(cpuOf(run)).toBeLessThan(mostMs());
  // Without the limit of characters, which would answer for most of them.
  const preparers = [{ characters: null }, { characters: null, tokens: null }].map(
    (limits: LimitsOptions) => new Preparer(fixtureSchema(), { limits: new Limits(limits), introspection: true }),
  );
  const [strict, lax] = preparers as [Preparer, Preparer];

  it.each(hostile)("%s", (_name, source, code) => {
    expectQuick(() => expect(refusedBy(() => lax.prepare(lax.choose(source, null)))).toContain(`400 ${code}: `));
    expectQuick(() =>
      expect(refusedBy(() => strict.prepare(strict.choose(source, null)))).toMatch(
        /^400 (TOKEN|DEPTH|BREADTH)_LIMIT_EXCEEDED: /,
      ),
    );
  });

  it.each([
    ["300,000 comments", `${"#\n".repeat(300_000)}{ hello }`, "TOKEN_LIMIT_EXCEEDED"],
    ["a list nested 20,000 deep", `{ echo(x: ${"[".repeat(20_000)}${"]".repeat(20_000)}) }`, "TOKEN_LIMIT_EXCEEDED"],
    ["5,000 variables", `query (${repeat(5000, (at) => `$v${at}: Int`)}) { hello }`, "TOKEN_LIMIT_EXCEEDED"],
    ["3,000 operations", repeat(3000, (at) => `query Q${at} { hello }`), "TOKEN_LIMIT_EXCEEDED"],
    [
      "a cycle of fragments through fields",
      "{ a { ...A } } fragment A on A { x: a { ...A } y: a { ...A } }",
      "GRAPHQL_VALIDATION_FAILED",
    ],
    [
      "a fan-out in a fragment that nothing spreads",
      `{ hello } ${fanOut(30, (next) => `x: a { ${next} } y: a { ${next} }`).replace(/^\{ a \{ ...F0 \} \}/, "")}`,
      "GRAPHQL_VALIDATION_FAILED",
    ],
  ])("%s", (_name, source, code) => {
    expectQuick(() => expect(refusedBy(() => strict.prepare(strict.choose(source, null)))).toContain(`400 ${code}: `));
  });

  it.each([
    ["100 times one field with nine in it", `{ ${`a{${"id ".repeat(9)}} `.repeat(100)} }`],
    [
      "100 fragments of the same fields",
      `{ ${repeat(100, (at) => `...F${at}`)} } ${repeat(100, (at) => `fragment F${at} on Query{a{id a{id}}}`)}`,
    ],
    ["much in an operation that is not run", `query Q { hello } query R { ${"a{id} ".repeat(450)} }`],
  ])("and a document within the limits is prepared in the same time: %s", (_name, source) => {
    let salt = 0;
    const prepare = () =>
      strict.prepare(strict.choose(`${source} #${salt++}`, source.startsWith("query") ? "Q" : null));

    expect(cpuOf(prepare)).toBeLessThan(mostMs());
  });
}

const repeat = (count: number, text: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => text(at)).join(" ");

const fanOut = (levels: number, level: (next: string) => string): string =>
  `{ a { ...F0 } } ${repeat(levels, (at) => `fragment F${at} on A { ${level(`...F${at + 1}`)} }`)} fragment F${levels} on A { id }`;

// Each with the limit that answers when the number of tokens does not.
const hostile: readonly [string, string, string][] = [
  ["10,000 aliases", `{ ${repeat(10_000, (at) => `h${at}: hello`)} }`, "ALIAS_LIMIT_EXCEEDED"],
  ["a fan-out of 2^20 through fragments", fanOut(20, (next) => `${next} ${next}`), "BREADTH_LIMIT_EXCEEDED"],
  [
    "a fan-out of 2^60 through fields",
    fanOut(60, (next) => `x: a { ${next} } y: a { ${next} }`),
    "DEPTH_LIMIT_EXCEEDED",
  ],
  ["selections nested 5,000 deep", nested(5000, "a"), "DEPTH_LIMIT_EXCEEDED"],
  ["20,000 directives", `{ hello ${"@aa ".repeat(20_000)} }`, "DIRECTIVE_LIMIT_EXCEEDED"],
  ["1,000 aliases of a mutation", `mutation { ${repeat(1000, (at) => `l${at}: login`)} }`, "ALIAS_LIMIT_EXCEEDED"],
  ["10,000 times one field", `{ ${"hello ".repeat(10_000)} }`, "BREADTH_LIMIT_EXCEEDED"],
  ["1,000 times one field with fields in it", `{ ${"a{id} ".repeat(1000)} }`, "BREADTH_LIMIT_EXCEEDED"],
  ["60 times 60 fields", `{ ${`a { ${"a{id} ".repeat(60)} } `.repeat(60)} }`, "FIELD_LIMIT_EXCEEDED"],
  [
    "500 fragments",
    `{ ${repeat(500, (at) => `...F${at}`)} } ${repeat(500, (at) => `fragment F${at} on Query {a{id a{id}}}`)}`,
    "BREADTH_LIMIT_EXCEEDED",
  ],
  ["2,000 inline fragments", `{ ${"...{a{id a{id}}} ".repeat(2000)} }`, "BREADTH_LIMIT_EXCEEDED"],
];
