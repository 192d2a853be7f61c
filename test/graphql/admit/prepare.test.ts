import { buildSchema, GraphQLError, getIntrospectionQuery } from "graphql";
import { describe, expect, it } from "vitest";
import { checkCost } from "../../../src/graphql/admit/check-structure.ts";
import { hideSuggestions } from "../../../src/graphql/admit/hide-suggestions.ts";
import type { Prepared } from "../../../src/graphql/admit/prepare-operation.ts";
import { Preparer } from "../../../src/graphql/admit/preparer.ts";
import { GraphRefusal } from "../../../src/graphql/errors/graph-refusal.ts";
import { Limits, type LimitsOptions } from "../../../src/graphql/limits/limits.ts";
import { fixtureSchema, nested, prepare, refused, refusedBy } from "../limits/fixture.ts";

const ALL_OFF: LimitsOptions = {
  cost: null,
  depth: null,
  aliases: null,
  breadth: null,
  fields: null,
  characters: null,
  tokens: null,
  directives: null,
};

function refusalOf(source: string): GraphRefusal {
  try {
    prepare(source);
  } catch (error) {
    if (error instanceof GraphRefusal) return error;
    throw error;
  }
  throw new Error("not refused");
}

/** Exactly at the default of one limit, and one over it. */
const boundaries: readonly [keyof LimitsOptions, string, (count: number) => string, number][] = [
  ["depth", "DEPTH_LIMIT_EXCEEDED", (count) => nested(count - 1, "a"), 15],
  [
    "aliases",
    "ALIAS_LIMIT_EXCEEDED",
    (count) => `{ ${Array.from({ length: count }, (_, at) => `h${at}: hello`).join(" ")} }`,
    30,
  ],
  ["breadth", "BREADTH_LIMIT_EXCEEDED", (count) => `{ ${"__typename ".repeat(count)} }`, 100],
  [
    "fields",
    "FIELD_LIMIT_EXCEEDED",
    (count) => `{ ${"hello ".repeat(count - 1)} ...F } fragment F on Query { hello }`,
    1000,
  ],
  ["characters", "CHARACTER_LIMIT_EXCEEDED", (count) => `{ hello }${"\n".repeat(count - 9)}`, 65_536],
  ["tokens", "TOKEN_LIMIT_EXCEEDED", (count) => `{ hello } ${"#\n".repeat(count - 3)}`, 2000],
  ["directives", "DIRECTIVE_LIMIT_EXCEEDED", (count) => `{ ${"hello @skip(if: false) ".repeat(count)} }`, 50],
];

describe("an operation within the limits", () => {
  it("is prepared: document, operation, name, structure and cost", () => {
    const prepared = prepare("query Named { a { x: id } } query Other { hello }", { operationName: "Named" });

    expect(prepared).toMatchObject({
      name: "Named",
      structure: { depth: 2, aliases: 1, breadth: 1, fields: 2, directives: 0 },
      operation: { kind: "OperationDefinition", name: { value: "Named" } },
      document: { kind: "Document" },
    });
    expect(prepared.cost?.({})).toBe(2);
    expect(prepare("query Only { hello }").name).toBe("Only");
    expect(prepare("{ hello }").name).toBeNull();
  });

  it("may be the standard introspection query, and one of a 900 kB text or comment where characters are not limited", () => {
    const limits = { characters: null };

    expect(prepare(getIntrospectionQuery()).structure.depth).toBe(15);
    expect(prepare(`{ echo(s: """${"x".repeat(900_000)}""") }`, { limits }).structure.fields).toBe(1);
    expect(prepare(`# ${"x".repeat(900_000)}\n{ hello }`, { limits }).structure.fields).toBe(1);
  });

  it("is measured alone: what stands in another operation of the document is not", () => {
    const big = `query Big { ${"hello ".repeat(500)} } query Small { hello }`;

    expect(prepare(big, { operationName: "Small" }).structure.fields).toBe(1);
    expect(refused(big, { operationName: "Big" })).toMatch(/^400 BREADTH_LIMIT_EXCEEDED/);
  });
});

describe("a limit", () => {
  it.each(boundaries)(
    "%s allows its default and refuses one more as %s, alone and with null",
    (name, code, document, limit) => {
      expect(prepare(document(limit), { limits: { ...ALL_OFF, [name]: limit } })).toBeDefined();

      const refusal = refused(document(limit + 1), { limits: { ...ALL_OFF, [name]: limit } });
      expect(refusal).toMatch(new RegExp(`^400 ${code}: .*\\b${limit + 1}\\b.*\\b${limit}$`));
      expect(prepare(document(limit + 1), { limits: ALL_OFF })).toBeDefined();
    },
  );

  it("of cost is checked with the variables, each time anew", () => {
    const limits = new Limits({ cost: 10 });
    const checked = ({ cost }: Pick<Prepared, "cost">, variables: Record<string, unknown>, within = limits) => {
      const measured = cost?.(variables) ?? null;
      checkCost(measured, within);
      return measured;
    };
    const prepared = prepare("query ($n: Int) { list(first: $n) { id } }", { limits: { cost: 10 } });

    expect(checked(prepared, { n: 9 })).toBe(10);
    expect(refusedBy(() => checked(prepared, { n: 10 }))).toBe(
      "400 COST_LIMIT_EXCEEDED: The operation's cost is 11; the limit is 10",
    );
    expect(checked(prepared, { n: 1 })).toBe(2);
    expect(checked(prepare("{ dear dear }", { limits: { cost: null } }), {}, new Limits({ cost: null }))).toBeNull();
  });

  it.each([
    ["tokens before syntax", `{ ${"hello ".repeat(2000)} `, "TOKEN_LIMIT_EXCEEDED"],
    ["syntax before structure", nested(20, "a").slice(0, -1), "GRAPHQL_PARSE_FAILED"],
    ["choice before structure", `${nested(20, "a")} query B { hello }`, "OPERATION_RESOLUTION_FAILURE"],
    ["depth before aliases", nested(20, "x: a { id } y: a").replaceAll("x:", ""), "DEPTH_LIMIT_EXCEEDED"],
    [
      "aliases before breadth",
      `{ ${Array.from({ length: 101 }, (_, at) => `h${at}: hello`).join(" ")} }`,
      "ALIAS_LIMIT_EXCEEDED",
    ],
    ["breadth before fields", `{ ${"hello ".repeat(1001)} }`, "BREADTH_LIMIT_EXCEEDED"],
    [
      "fields before directives",
      `{ ${"a { id @a @a } ".repeat(60)} ${"...F ".repeat(3)} }
      fragment F on Query { ${"a { ...G } ".repeat(4)} } fragment G on A { ${"id ".repeat(99)} }`,
      "FIELD_LIMIT_EXCEEDED",
    ],
    ["directives before validation", `{ unknown ${"@a ".repeat(51)} }`, "DIRECTIVE_LIMIT_EXCEEDED"],
    ["depth before validation", nested(20, "unknown"), "DEPTH_LIMIT_EXCEEDED"],
    ["validation before introspection", "{ __schema { unknown } }", "GRAPHQL_VALIDATION_FAILED"],
    ["introspection last", "{ __schema { types { name } } }", "INTROSPECTION_DISABLED"],
  ])("is checked in order: %s", (_order, source, code) => {
    expect(refused(source, { introspection: false })).toContain(` ${code}: `);
  });

  it.each([
    ["a circle", "{ ...A } fragment A on Query { ...B } fragment B on Query { ...A }"],
    ["a circle through fields", "{ a { ...A } } fragment A on A { a { ...A } }"],
    ["itself", "{ ...A } fragment A on Query { ...A hello }"],
  ])("does not stand in the way of the error for a fragment that spreads %s", (_name, source) => {
    expect(refused(source)).toMatch(/^400 GRAPHQL_VALIDATION_FAILED: Cannot spread fragment "A" within itself/);
  });
});

describe("a document that is refused", () => {
  it("says where the syntax is wrong", () => {
    expect(refusalOf("{\n  a(\n").errors).toMatchObject([
      { locations: [{ line: 3, column: 1 }], extensions: { code: "GRAPHQL_PARSE_FAILED" } },
    ]);
  });

  it("names at most ten faults and that there are more, each with a code and its place", () => {
    const { errors, status } = refusalOf(`{ ${Array.from({ length: 90 }, (_, at) => `unknown${at}`).join(" ")} }`);

    expect([status, errors.length]).toEqual([400, 11]);
    for (const error of errors) expect(error.extensions["code"]).toBe("GRAPHQL_VALIDATION_FAILED");
    expect(errors[1]?.locations).toEqual([{ line: 1, column: 12 }]);
  });

  it.each([
    ["", null, "GRAPHQL_PARSE_FAILED"],
    ["# nothing", null, "GRAPHQL_PARSE_FAILED"],
    ["fragment F on Query { hello }", null, "OPERATION_RESOLUTION_FAILURE"],
    ["type X { y: Int }", null, "OPERATION_RESOLUTION_FAILURE"],
    ["type X { y: Int } query { hello }", null, "GRAPHQL_VALIDATION_FAILED"],
    ["query A { hello } query B { hello }", null, "OPERATION_RESOLUTION_FAILURE"],
    ["query A { hello }", "B", "OPERATION_RESOLUTION_FAILURE"],
    ["query A { hello }", "", "OPERATION_RESOLUTION_FAILURE"],
    ["query A { hello }", "__proto__", "OPERATION_RESOLUTION_FAILURE"],
    ["query A { hello }", "A".repeat(900_000), "OPERATION_RESOLUTION_FAILURE"],
    ["query A { hello } query A { hello }", "A", "GRAPHQL_VALIDATION_FAILED"],
    ["{ hello \ud800 }", null, "GRAPHQL_PARSE_FAILED"],
  ])("for %.40j as %.20s is 400 with %s", (source, operationName, code) => {
    const refusal = refused(source, { operationName });

    expect(refusal).toContain(`400 ${code}: `);
    expect(refusal.length).toBeLessThan(200);
  });

  it.each([
    [
      "chains of fragments",
      `{ ...F0 } ${Array.from({ length: 20_000 }, (_, at) => `fragment F${at} on Query { ...F${at + 1} }`).join("\n")} fragment F20000 on Query { hello }`,
      "GRAPHQL_VALIDATION_FAILED",
    ],
    ["selections", nested(5000, "a"), "GRAPHQL_PARSE_FAILED"],
    ["lists", `{ echo(x: ${"[".repeat(20_000)}${"]".repeat(20_000)}) }`, "GRAPHQL_PARSE_FAILED"],
    ["objects", `{ echo(x: ${"{a:".repeat(20_000)}1${"}".repeat(20_000)}) }`, "GRAPHQL_PARSE_FAILED"],
    ["types", `query ($a: ${"[".repeat(20_000)}Int${"]".repeat(20_000)}) { hello }`, "GRAPHQL_PARSE_FAILED"],
    ["inline fragments", nested(5000, "...", "hello"), "GRAPHQL_PARSE_FAILED"],
  ])("because %s are nested too deeply does not exhaust the stack, with all limits off", (_name, source, code) => {
    expect(refused(source, { limits: ALL_OFF })).toContain(`400 ${code}: `);
  });
});

describe("the operation that was chosen", () => {
  it("is known before it is measured, from the cache too", () => {
    const preparer = new Preparer(fixtureSchema(), { limits: new Limits(), introspection: true });
    const source = "query A { hello } mutation B { login }";

    const tooDeep = preparer.choose(nested(20, "a").replace("{", "mutation {"), null);
    expect(tooDeep.operation.operation).toBe("mutation");
    expect(refusedBy(() => preparer.prepare(tooDeep))).toMatch(/^400 DEPTH_LIMIT_EXCEEDED/);
    expect(preparer.prepare(preparer.choose(source, "B")).name).toBe("B");
    expect(preparer.choose(source, "B").operation.operation).toBe("mutation");
    expect(preparer.choose(source, "A").operation.operation).toBe("query");
  });

  it("is prepared once, however often it is asked for", () => {
    const preparer = new Preparer(fixtureSchema(), { limits: new Limits(), introspection: true });
    const first = preparer.prepare(preparer.choose("query A { hello } query B { a { id } }", "A"));

    expect(preparer.prepare(preparer.choose("query A { hello } query B { a { id } }", "A"))).toBe(first);
    expect(preparer.prepare(preparer.choose("query A { hello } query B { a { id } }", "B")).document).toBe(
      first.document,
    );
    expect(preparer.prepare(preparer.choose("query A { hello }", "A")).document).not.toBe(first.document);
  });

  it("is never taken for another: halves of surrogate pairs are told apart", () => {
    const preparer = new Preparer(fixtureSchema(), { limits: new Limits(), introspection: true });

    expect(preparer.prepare(preparer.choose('{ echo(s: "\ufffd") }', null)).name).toBeNull();
    expect(refusedBy(() => preparer.prepare(preparer.choose('{ echo(s: "\ud800") }', null)))).toMatch(
      /^400 GRAPHQL_PARSE_FAILED/,
    );
  });
});

describe("while introspection is off", () => {
  it.each([
    "{ __schema { types { name } } }",
    '{ __type(name: "A") { name } }',
    "{ hello x: __schema { types { name } } }",
    "{ ...F } fragment F on Query { ... { ...G } } fragment G on Query { __schema { __typename } }",
    "{ hello __schema @skip(if: true) { __typename } }",
    "{ ...F hello } fragment F on Query { __schema { __typename } }",
    "{ ... { __schema { __typename } } a { id } hello }",
    "{ ...F ...F ...G } fragment F on Query { hello } fragment G on Query { ...F x: __schema { __typename } }",
  ])("%s is 403", (source) => {
    expect(refused(source, { introspection: false })).toBe("403 INTROSPECTION_DISABLED: Introspection is disabled");
    expect(refused(source)).toBe("not refused");
  });

  it("a query for the schema is 403 also below a field that returns the query type", () => {
    const again = buildSchema("type Query { hello: Int again: Query }");
    const preparer = new Preparer(again, { limits: new Limits(), introspection: false });
    const source = "{ again { ... { again { __schema { __typename } } } } }";
    expect(refusedBy(() => preparer.prepare(preparer.choose(source, null)))).toMatch(/^403 INTROSPECTION_DISABLED/);
  });

  it("__typename is answered, and so is what asks for the schema in an operation that is not run", () => {
    expect(prepare("{ __typename a { __typename } }", { introspection: false }).structure.fields).toBe(3);
    expect(
      prepare("query A { hello } query B { __schema { __typename } }", { introspection: false, operationName: "A" })
        .name,
    ).toBe("A");
  });

  it.each([
    "{ helo }",
    "{ a { idd } }",
    "{ a }",
    "{ list(frist: 1) { id } }",
    "{ echo(o: { ss: 1 }) }",
    "{ echo(colour: REDD) }",
    '{ echo(colour: "RED") }',
    "query ($x: Inn) { echo(o: $x) }",
    "{ ... on Querry { hello } }",
    "{ hello @skp(if: true) }",
  ])("%s gets no suggestion", (source) => {
    expect(refused(source, { introspection: false })).toMatch(/^400 GRAPHQL_VALIDATION_FAILED/);
    expect(refused(source, { introspection: false })).not.toContain("Did you mean");
  });

  it("names are suggested no more, and they are while it is on", () => {
    expect(refused("{ helo }")).toContain('Did you mean "hello"?');
  });

  it.each([
    ['Cannot query field "x" on type "Q". Did you mean "a"?', 'Cannot query field "x" on type "Q".'],
    ['No. Did you mean "a" or "b"?', "No."],
    ['No. Did you mean the enum value "A", "B", or "C"?', "No."],
    ['No. Did you mean to use an inline fragment on "A", "B", "C", "D", or "E"?', "No."],
    [
      'not to include unknown field "y". Did you mean "s"? Found: { y: 1 }.',
      'not to include unknown field "y". Found: { y: 1 }.',
    ],
    ['Unexpected "Did you mean" here', 'Unexpected "Did you mean" here'],
    ["Did you mean to say that?", "Did you mean to say that?"],
  ])("%s is told as %s", (message, shown) => {
    const error = new GraphQLError(message, { extensions: { code: "X" }, path: ["a"] });

    expect(hideSuggestions(error)).toMatchObject({ message: shown, extensions: { code: "X" }, path: ["a"] });
    expect(hideSuggestions(error) === error).toBe(message === shown);
  });

  it("errors of graphql are shown without them, and as they are while it is on", () => {
    const options = { limits: new Limits() };
    const error = new GraphQLError('No. Did you mean "a"?');

    expect(new Preparer(fixtureSchema(), { ...options, introspection: false }).show(error).message).toBe("No.");
    expect(new Preparer(fixtureSchema(), { ...options, introspection: true }).show(error)).toBe(error);
  });
});
