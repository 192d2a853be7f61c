import {
  GraphQLError,
  type GraphQLInterfaceType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getOperationAST,
  type OperationDefinitionNode,
  parse,
  versionInfo,
} from "graphql";
import { describe, expect, it } from "vitest";
import { Plan } from "../../../src/graphql/execute/plan/plan.ts";
import { messages, same, schemaOf } from "./same-as-graphql.ts";
import { seen } from "./same-result.ts";

const ABSTRACT = "type Query { i: I list: [I!] t: T } interface I { n: Int } type T implements I { n: Int }";

function withTypes(
  resolveType: () => unknown,
  isTypeOf?: (value: unknown, context: unknown, info: unknown) => unknown,
): GraphQLSchema {
  const schema = schemaOf(ABSTRACT);
  (schema.getType("I") as GraphQLInterfaceType).resolveType = resolveType as never;
  if (isTypeOf !== undefined) (schema.getType("T") as GraphQLObjectType).isTypeOf = isTypeOf as never;
  return schema;
}
const rootValue = { i: { n: 1 }, list: [{ n: 2 }, { n: 3 }], t: { n: 4 } };

describe("a plan has the same error as graphql", () => {
  it.each([
    ["throws", () => () => fail("no type")],
    ["rejects", () => async () => fail("no type")],
  ])("for a type resolver that %s", async (_title, resolve) => {
    const result = await same(withTypes(resolve()), "{ i { n } list { n } }", { rootValue });

    expect(seen(result).data).toBe('{"i":null,"list":null}');
    expect(messages(result)).toEqual(["no type", "no type"]);
  });

  it.each([
    ["throws", () => fail("unknown")],
    ["rejects", async () => fail("unknown")],
    ["returns false", () => false],
    ["resolves to false", async () => false],
  ])("for isTypeOf that %s, of an object and of an interface", async (_title, isTypeOf) => {
    const schema = withTypes(() => "T", isTypeOf);

    // Errors in one turn of the event loop have no order that graphql defines.
    for (const name of ["i", "list", "t"]) {
      const result = await same(schema, `{ ${name} { n } }`, { rootValue });
      expect(seen(result).data).toBe(`{"${name}":null}`);
      expect(result.errors).toHaveLength(1);
    }
  });

  it("for a type resolver that returns the type itself instead of its name", async () => {
    const schema = withTypes(() => schema.getType("T"));

    const result = await same(schema, "{ i { n } list { n } }", { rootValue });

    expect(result.errors).toHaveLength(2);
  });

  it.each([
    ["another error of graphql", () => new GraphQLError("of a getter")],
    ["an error that begins like graphql's", () => new Error("Boolean cannot represent a non boolean value: no")],
  ])("for a value of the wrong type that cannot be printed because of %s", async (_title, error) => {
    const bad = {
      get n(): number {
        throw error();
      },
      toJSON: () => {
        throw error();
      },
    };

    const result = await same(
      withTypes(
        () => "T",
        () => false,
      ),
      "{ t { n } }",
      { rootValue: { t: bad } },
    );

    expect(messages(result)).toEqual([error().message]);
  });

  it("for errors below an object of an interface, with their paths", async () => {
    const schema = schemaOf(
      "interface I { i: I n: Int } type T implements I { i: I n: Int sure: Int! } type Query { i: I list: [I] }",
    );
    const value = { __typename: "T", n: "x", sure: null };
    const text = "{ i { n i { n ... on T { sure } } } list { n } }";

    const result = await same(schema, text, { rootValue: { i: { ...value, i: value }, list: [value] } });

    expect(result.errors?.map(({ path }) => path?.join("."))).toEqual(["i.n", "i.i.n", "i.i.sure", "list.0.n"]);
  });

  it("for an abstract type without a type resolver", async () => {
    const result = await same(schemaOf(ABSTRACT), "{ i { n } list { n } }", { rootValue });

    expect(messages(result)[0]).toMatch(/^Abstract type "I" must resolve to an Object type at runtime for field/);
    expect(messages(result)[0]).toContain("should provide a");
  });

  it("for a value whose type is checked: the function receives value, context and info", async () => {
    const received: unknown[] = [];
    const isTypeOf = (value: unknown, _context: unknown, info: unknown): boolean => {
      received.push(value, (info as { readonly fieldName: string }).fieldName);
      return true;
    };

    await same(
      withTypes(() => "T", isTypeOf),
      "{ i { n } t { n } }",
      { rootValue },
    );

    expect(received.slice(0, 4)).toEqual([rootValue.i, "i", rootValue.t, "t"]);
    expect(received).toHaveLength(12);
  });

  it.each([
    ["a constant of the wrong type", '{ a(n: "x") }'],
    ["a required argument that is missing", "{ b }"],
    ["a required argument that is null", "{ b(n: null) }"],
    ["a variable without a value for a required argument", "query ($n: Int) { b(n: $n) }"],
    ["a list with a wrong item", '{ c(list: [1, "x"]) }'],
    ["an unknown enum value", "{ d(e: Z) }"],
  ])("for %s", async (_title, text) => {
    const schema = schemaOf(
      "enum E { X } type Query { a(n: Int): Int b(n: Int!): Int c(list: [Int]): Int d(e: E): Int }",
    );

    const result = await same(schema, text, { rootValue: { a: () => 1, b: () => 1, c: () => 1, d: () => 1 } });

    expect(result.errors).toHaveLength(1);
    expect(messages(result)[0]).toMatch(/^Argument "/);
  });

  it.each([
    ["undefined", undefined],
    ["null", null],
  ])("for a scalar that serializes a value to %s", async (_title, serialized) => {
    const schema = schemaOf("scalar Odd type Query { odd: Odd list: [Odd] sure: Odd! }");
    const method = versionInfo.major >= 17 ? "coerceOutputValue" : "serialize";
    Object.assign(schema.getType("Odd") ?? {}, { [method]: () => serialized });

    const result = await same(schema, "{ odd list }", { rootValue: { odd: { a: 1 }, list: ["x", true] } });
    await same(schema, "{ sure }", { rootValue: { sure: 1 } });

    expect(messages(result)).toHaveLength(3);
    expect(messages(result)[0]).toMatch(/^Expected `Odd\.\w+\(\{ a: 1 \}\)` to return non-nullable value, returned: /);
    expect(messages(result)[2]).toContain("(true)");
  });

  it("for an error that a leaf, a getter or a method returns or throws", async () => {
    const schema = schemaOf("type Query { a: A list: [A!] } type A { n: Int s: String! sure: Int! }");
    const a = {
      n: new Error("returned"),
      get s(): string {
        throw new Error("getter");
      },
      sure: () => fail("method"),
    };

    for (const fields of ["n", "s", "sure", "n s", "n sure", "s sure"])
      await same(schema, `{ a { ${fields} } list { ${fields} } }`, { rootValue: { a, list: [a] } });
    const result = await same(schema, "{ a { n } b: a { s } c: a { sure } }", { rootValue: { a } });

    expect(seen(result).data).toBe('{"a":{"n":null},"b":null,"c":null}');
    expect(messages(result)).toEqual(["returned", "getter", "method"]);
  });

  it("for a field beside pending ones whose getter throws", async () => {
    const schema = schemaOf("type Query { a: A } type A { later: Int bad: Int sure: Int! after: Int }");
    const a = {
      get later(): unknown {
        return Promise.resolve(1);
      },
      get bad(): unknown {
        throw new Error("bad");
      },
      get sure(): unknown {
        throw new Error("sure");
      },
      after: "3",
    };

    const nulled = await same(schema, "{ a { later bad after } }", { rootValue: { a } });
    const lost = await same(schema, "{ a { later sure after } }", { rootValue: { a } });

    expect(seen(nulled).data).toBe('{"a":{"later":1,"bad":null,"after":3}}');
    expect(seen(lost).data).toBe('{"a":null}');
  });

  it("for a rejected value of a non-null root field", async () => {
    const schema = schemaOf("type Query { a: Int! b: Int! }");
    const first = await same(schema, "{ a b }", { rootValue: { a: () => fail("a"), b: 1 } });
    const later = await same(schema, "{ a b }", { rootValue: { a: async () => fail("a"), b: 1 } });

    expect([seen(first).data, seen(later).data]).toEqual(["null", "null"]);
    expect([...messages(first), ...messages(later)]).toEqual(["a", "a"]);
  });
});

describe("a plan is not made for", () => {
  it.each([
    ["a condition without a value", "{ a @skip }", "directive @skip on FIELD type Query { a: Int }"],
    [
      "a condition that is not a Boolean",
      "{ a @include(if: 1) }",
      "directive @include(if: Int) on FIELD type Query { a: Int }",
    ],
    ["@stream", "{ a }", "directive @stream on FIELD type Query { a: Int }"],
    [
      "an operation that keeps errors from propagating",
      "query @experimental_disableErrorPropagation { a }",
      "directive @experimental_disableErrorPropagation on QUERY type Query { a: Int }",
    ],
    ["an operation that the schema has no type for", "mutation { a }", "type Query { a: Int }"],
  ])("%s", (_title, text, sdl) => {
    const document = parse(text);

    expect(Plan.compile(schemaOf(sdl), document, getOperationAST(document) as OperationDefinitionNode)).toBeNull();
  });

  it("anything else: other directives change nothing", async () => {
    const schema = schemaOf("directive @other(if: Int) on FIELD | QUERY type Query { a: Int }");

    const result = await same(schema, "query @other { a @other(if: 1) b: a @skip(if: true) c: a @include(if: true) }", {
      rootValue: { a: 1 },
    });

    expect(seen(result).data).toBe('{"a":1,"c":1}');
  });
});

function fail(message: string): never {
  throw new Error(message);
}
