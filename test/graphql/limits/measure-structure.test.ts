import * as fc from "fast-check";
import { getIntrospectionQuery, Kind, parse } from "graphql";
import { describe, expect, it } from "vitest";
import { measureStructure, type Structure } from "../../../src/graphql/limits/measure-structure.ts";
import { fragmentsOf } from "../../../src/graphql/selection/fragments-of.ts";
import { nested } from "./fixture.ts";
import { countNaively } from "./naive.ts";
import { documents } from "./random-documents.ts";

function measured(source: string): Structure {
  const document = parse(source);
  const operation = document.definitions.find((definition) => definition.kind === Kind.OPERATION_DEFINITION);
  if (operation?.kind !== Kind.OPERATION_DEFINITION) throw new Error("no operation");
  return measureStructure(operation, fragmentsOf(document));
}

describe("the measures of an operation", () => {
  it.each([
    ["{ hello }", { depth: 1, aliases: 0, breadth: 1, fields: 1, directives: 0 }],
    [nested(12, "plain"), { depth: 13, breadth: 1, fields: 13 }],
    [
      "{ hello ...F } fragment F on Query { a { id } b: hello c: hello }",
      { depth: 2, breadth: 4, fields: 5, aliases: 2 },
    ],
    ["{ a { ...F } b: a { ...F } } fragment F on A { id id }", { breadth: 2, fields: 6, aliases: 1 }],
    ["{ ... { ... { ... { hello __typename } } } }", { depth: 1, breadth: 2, fields: 2 }],
    ["{ hello @skip(if: true) ... @include(if: false) { a { id } } }", { depth: 2, fields: 3, directives: 2 }],
    ["query ($a: Int @x) @y { ...F @z ...F @z } fragment F on Query @w { hello @v @v }", { fields: 2, directives: 10 }],
    ["{ a { ...S } a { a { a { ...S } } } } fragment S on A { a { id } }", { depth: 5 }],
    [
      "{ ...__proto__ ...constructor } fragment __proto__ on Query { hello } fragment constructor on Query { a { id id } }",
      { breadth: 2, fields: 4 },
    ],
    ["{ ...toString hello }", { fields: 1, breadth: 1 }],
  ])("of %s are %j", (source, expected) => {
    expect(measured(source)).toMatchObject(expected);
  });

  it("of the standard introspection query fit the defaults", () => {
    const { depth, aliases, breadth, fields } = measured(getIntrospectionQuery());

    expect({ depth, aliases }).toEqual({ depth: 15, aliases: 0 });
    expect(breadth).toBeOneOf([8, 9, 10]);
    expect(fields).toBeGreaterThanOrEqual(220);
    expect(fields).toBeLessThanOrEqual(232);
  });

  it("are those of the operation alone, not of the document", () => {
    const document = parse("query A { hello } query B { a { a { id } } }");
    const [, second] = document.definitions.filter((definition) => definition.kind === Kind.OPERATION_DEFINITION);

    expect(second && measureStructure(second, fragmentsOf(document)).fields).toBe(3);
  });

  it.each([
    ["a circle", "{ ...A } fragment A on Query { hello ...B } fragment B on Query { hello ...A }"],
    ["a cycle through fields", "{ ...A } fragment A on Query { a { ...B } } fragment B on A { a { ...B ...B } }"],
    ["itself", "{ ...A } fragment A on Query { ...A }"],
    [
      "a cycle of a thousand",
      `{ ...F0 } ${Array.from({ length: 1000 }, (_, at) => `fragment F${at} on Query { hello ...F${(at + 1) % 1000} }`).join("\n")}`,
    ],
  ])("end when a fragment spreads %s", (_name, source) => {
    for (const count of Object.values(measured(source))) expect(count).toSatisfy(Number.isSafeInteger);
  });

  it("stop at the largest safe integer if fragments multiply", () => {
    const levels = Array.from(
      { length: 60 },
      (_, at) => `fragment F${at} on A { x: a @on { ...F${at + 1} } y: a { ...F${at + 1} } ...F${at + 1} }`,
    );
    const structure = measured(`{ a { ...F0 } } ${levels.join("\n")} fragment F60 on A { id }`);

    expect(structure).toEqual({
      depth: 62,
      aliases: 2 ** 53 - 1,
      breadth: 121,
      fields: 2 ** 53 - 1,
      directives: 2 ** 53 - 1,
    });
  });

  it("do not overflow the stack with nested fragments", () => {
    const chain = Array.from({ length: 20_000 }, (_, at) => `fragment F${at} on Query { ...F${at + 1} }`);

    expect(measured(`{ ...F0 } ${chain.join("\n")} fragment F20000 on Query { hello }`).fields).toBe(1);
  });

  it("equal the results of a counter that expands every fragment", () => {
    fc.assert(
      fc.property(documents, (source) => {
        expect(measured(source)).toEqual(countNaively(parse(source)));
      }),
      { numRuns: 500 },
    );
  });
});
