import * as fc from "fast-check";
import { buildSchema, OverlappingFieldsCanBeMergedRule, parse, validate } from "graphql";
import { describe, expect, it } from "vitest";
import { findOverlaps, type Overlaps } from "../../../src/graphql/limits/find-overlaps.ts";
import { fragmentsOf } from "../../../src/graphql/selection/fragments-of.ts";
import { prepare, refused } from "./fixture.ts";
import { documents, pricedSchema } from "./random-documents.ts";

const zoo = buildSchema(`
  interface Animal { name: String }
  type Cat implements Animal { name: String  lives: Int  friend: Animal  friends: [Animal]  size: Int! }
  type Dog implements Animal { name: String  barks: Int  friend: Animal  friends: [Animal]  size: Int }
  type Query { pet: Animal  cat: Cat  dog: Dog  many(first: Int, o: [Int]): [Animal] }
`);

function overlaps(source: string, schema = zoo): Overlaps {
  const document = parse(source);
  return findOverlaps(schema, document, fragmentsOf(document), 10_000);
}

const repeat = (count: number, text: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => text(at)).join(" ");

describe("fields in one place of the response", () => {
  it.each<[string, Overlaps]>([
    ["{ cat { name } cat { name lives } }", "alike"],
    ["{ many(first: 1) { name } many(first: 1) { name } }", "alike"],
    ["{ pet { ... on Cat { name } ... on Dog { name } } }", "alike"],
    [
      "{ pet { ...F ... on Dog { friend { name } } } } fragment F on Cat { friend { ...G } } fragment G on Animal { name }",
      "alike",
    ],
    ["{ pet { ... on Cat { friends { name } } ... on Dog { friends { name } } } }", "alike"],
    ["{ cat { name @include(if: true) } cat { name @include(if: true) } }", "alike"],
    ["{ ...Unknown cat { name } }", "alike"],
    [`{ ...F } fragment F on Query { ${repeat(6000, () => "__typename")} }`, "alike"],
    ["query A { cat { x: name } } query B { cat { x: lives } }", "alike"],
    ["{ many(first: 1) { name } many { name } }", "differ"],
    ["{ many(first: 1) { name } many(first: 2) { name } }", "differ"],
    ["{ many(first: 1, o: 1) { name } many(o: 1, first: 1) { name } }", "differ"],
    ["{ pet { ... on Cat { x: lives } ... on Dog { x: barks } } }", "differ"],
    ["{ pet { ... on Cat { size } ... on Dog { size } } }", "differ"],
    ["{ pet { ... on Cat { ... { size } } ... on Dog { ... { size } } } }", "differ"],
    ["{ cat { name @stream } cat { name } }", "differ"],
    ["{ cat { name } cat { name @stream } }", "differ"],
    ["{ cat { friend { x: name } } ...F } fragment F on Query { cat { friend { x: __typename } } }", "differ"],
    ["{ cat { name } } fragment Unused on Cat { x: name x: lives }", "differ"],
    ["{ cat { ...F } } fragment F on Cat { x: name x: lives } fragment F on Cat { name }", "differ"],
    ["{ cat { name @stream } cat { name @stream } }", "differ"],
    ["{ nothing { x: a } nothing { x: b } }", "differ"],
    [`{ cat { name } ${repeat(1000, () => "cat { name }")} }`, "alike"],
    [`{ x: cat { name } ${repeat(1000, () => "x: dog { name }")} }`, "too many"],
    [
      `{ ...F } fragment F on Query { cat { friend { ... on Cat { ...G } } } } fragment G on Cat { friend { ...G } }`,
      "too many",
    ],
    [
      `{ x: pet { name } x: cat { name } } ${repeat(300, (at) => `fragment F${at} on Query { pet { name } }`)}`,
      "differ",
    ],
    [
      `{ x: pet { name } x: cat { name } ${repeat(300, (at) => `...F${at}`)} } ${repeat(300, (at) => `fragment F${at} on Query { pet { name } }`)}`,
      "too many",
    ],
  ])("of %.100s are %s", (source, expected) => {
    expect(overlaps(source)).toBe(expected);
  });

  it("never conflict by graphql's own rule if they are alike", () => {
    const schema = pricedSchema();
    fc.assert(
      fc.property(documents, (source) => {
        const errors = validate(schema, parse(source), [OverlappingFieldsCanBeMergedRule]);

        expect(errors.length === 0 || overlaps(source, schema) === "differ").toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  it("are still rejected if they conflict, with graphql's message", () => {
    expect(refused("{ x: hello x: echo }")).toMatch(
      /^400 GRAPHQL_VALIDATION_FAILED: Fields "x" conflict because "hello" and "echo" are different/,
    );
    expect(
      refused(`{ x: a { id } ${"a { x: id } a { x: id } ".repeat(40)} a { x: a { id } } }`, {
        limits: { aliases: null },
      }),
    ).toMatch(/^400 GRAPHQL_VALIDATION_FAILED: Fields "a" conflict/);
  });

  it("are not compared in pairs while they are alike, so half a million of them are accepted", () => {
    expect(prepare(`{ ${"a { id id id id id id id id id } ".repeat(100)} }`).structure).toMatchObject({
      fields: 1000,
      breadth: 100,
    });
    expect(prepare(`{ ${"hello ".repeat(1000)} }`, { limits: { breadth: null } }).structure.fields).toBe(1000);
  });

  it("can be as many as the limits allow", () => {
    const source = `{ ${"hello ".repeat(30_000)} }`;
    const limits = { breadth: null, tokens: null, characters: null };

    expect(prepare(source, { limits: { ...limits, fields: 30_000 } }).structure.fields).toBe(30_000);
    expect(prepare(source, { limits: { ...limits, fields: null } }).structure.fields).toBe(30_000);
  });

  it("are rejected if there are too many to compare", () => {
    const source = `{ ${"x: a { id id } ".repeat(100)} x: a { id list { id } } x: list { id } }`;

    expect(refused(source, { limits: { breadth: null, aliases: null } })).toMatch(
      /^400 GRAPHQL_VALIDATION_FAILED: The document selects too many/,
    );
  });
});
