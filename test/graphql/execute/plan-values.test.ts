import {
  GraphQLBoolean,
  GraphQLFloat,
  GraphQLID,
  GraphQLInt,
  type GraphQLScalarType,
  GraphQLString,
  getOperationAST,
  type OperationDefinitionNode,
  parse,
  versionInfo,
} from "graphql";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { Plan } from "../../../src/graphql/execute/plan/plan.ts";
import { bodyOf, openSchema } from "../endpoint/open.ts";
import { same, schemaOf } from "./same-as-graphql.ts";
import { seen } from "./same-result.ts";

describe("a plan has the same result as graphql", () => {
  it("for fragments on objects, interfaces and unions, of which some do not apply", async () => {
    const schema = schemaOf(`
      interface I { n: Int } union U = A | B
      type A implements I { n: Int a: Int } type B implements I { n: Int b: Int } type C { c: Int }
      type Query { i: I list: [U!] c: C a: A }`);
    const [a, b] = [
      { __typename: "A", n: 1, a: 2 },
      { __typename: "B", n: 3, b: 4 },
    ];
    const text = `{
      i { ... on A { a } ... on B { b } ...N ... { t: __typename } }
      list { ...N ... on U { ... on A { a } ...OnB } ...OnB }
      a { ...N ... on U { t: __typename } ... on B { b } a }
      ... on Query { c { c } ...Q }
    }
    fragment N on I { n } fragment OnB on B { b n } fragment Q on Query { c { d: c } }`;

    const result = await same(schema, text, { rootValue: { i: a, list: [a, b], c: { c: 5 }, a } });

    expect(JSON.parse(seen(result).data)).toEqual({
      i: { a: 2, n: 1, t: "A" },
      list: [
        { n: 1, a: 2 },
        { n: 3, b: 4 },
      ],
      a: { n: 1, t: "A", a: 2 },
      c: { c: 5, d: 5 },
    });
  });

  it("for conditions on fields, fragments and spreads, as literals and as variables", async () => {
    const schema = schemaOf("type Query { a: Int b: Int c: Int d: Int }");
    const text = `query ($yes: Boolean!, $no: Boolean!) {
      a @include(if: $yes) @skip(if: $no) b @include(if: $yes) @skip(if: $yes) a2: a @include(if: $no)
      ... @skip(if: $no) { c } ... @include(if: $no) { c2: c } ...F @skip(if: $yes) ...F ...G @include(if: false)
      b2: b @skip(if: false) b3: b @include(if: true) b4: b @skip(if: true)
    } fragment F on Query { d } fragment G on Query { d2: d }`;

    const result = await same(schema, text, {
      rootValue: { a: 1, b: 2, c: 3, d: 4 },
      variables: { yes: true, no: false },
    });

    expect(seen(result).data).toBe('{"a":1,"c":3,"d":4,"b2":2,"b3":2}');
  });

  it("for functions and objects that can be awaited", async () => {
    // oxlint-disable-next-line unicorn/no-thenable -- a library may return such an object
    const later = (value: unknown): object => ({ then: (resolve: (value: unknown) => void) => resolve(value) });
    // oxlint-disable-next-line unicorn/no-thenable -- not a function, so it is not awaited
    const never = { then: 1 };
    const schema = schemaOf("type Query { f: Int o: Int n: Int list: [Int] a: A p: Int } type A { n: Int }", {
      "Query.f": () => Object.assign(() => {}, later(1)),
      "Query.o": () => later(2),
      "Query.list": () => [later(3), Object.assign(() => {}, later(4))],
      "Query.a": () => later({ n: later(5) }),
    });

    const result = await same(schema, "{ f o n list a { n } p }", { rootValue: { n: never, p: later(6) } });

    expect(JSON.parse(seen(result).data)).toEqual({ f: 1, o: 2, n: null, list: [3, 4], a: { n: 5 }, p: 6 });
  });

  it("for methods: they receive arguments, context and info, and are called on their object", async () => {
    const calls: unknown[] = [];
    const schema = schemaOf("type Query { a: A list: [A!] } type A { n: Int later: Int m(x: Int = 3): Int }");
    class Source {
      readonly base = 1;
      n(args: object, _context: unknown, info: { readonly fieldName: string }): number {
        calls.push([{ ...args }, info.fieldName]);
        return this.base + 1;
      }
      async later(): Promise<number> {
        return this.base + 2;
      }
      m({ x }: { readonly x: number }): number {
        return this.base + x;
      }
    }

    const text = "{ a { n later m } list { n m(x: 1) } }";
    const result = await same(schema, text, { rootValue: { a: new Source(), list: [new Source()] } });

    expect(seen(result).data).toBe('{"a":{"n":2,"later":3,"m":4},"list":[{"n":2,"m":2}]}');
    expect(calls).toEqual(Array.from({ length: 6 }, () => [{}, "n"]));
  });
});

describe("a value that a scalar would return unchanged", () => {
  const method = versionInfo.major >= 17 ? "coerceOutputValue" : "serialize";

  it.each<[GraphQLScalarType<any>, readonly unknown[], readonly unknown[]]>([
    [GraphQLString, ["", "x"], [1, true]],
    [GraphQLID, ["", "x"], [1]],
    [GraphQLBoolean, [true, false], [1]],
    [GraphQLInt, [0, 1, -(2 ** 31), 2 ** 31 - 1], ["1", true]],
    [GraphQLFloat, [0, 1.5, 2 ** 53], ["1", true]],
  ])("is not passed to %s", (type, unchanged, changed) => {
    const values = [...unchanged, null, undefined, ...changed];
    const names = values.map((_, index) => `f${index}`);
    const schema = schemaOf(`type Query { ${names.map((name) => `${name}: ${type.name}`).join(" ")} }`);
    const document = parse(`{ ${names.join(" ")} }`);
    const rootValue = Object.fromEntries(values.map((value, index) => [`f${index}`, value]));
    const passed = vi.spyOn(type, method as "serialize");
    onTestFinished(() => passed.mockRestore());

    for (const hotAfter of [0, Number.POSITIVE_INFINITY]) {
      passed.mockClear();
      const plan = Plan.compile(schema, document, getOperationAST(document) as OperationDefinitionNode, { hotAfter });
      const result = plan?.execute({ rootValue, contextValue: undefined, variables: {}, mostObjects: 1 });

      expect(passed.mock.calls.map(([value]) => value)).toEqual(changed);
      expect(Object.values((result as { readonly data: object }).data).slice(0, unchanged.length)).toEqual(unchanged);
    }
  });
});

it("a plan does without generated code where the process forbids it", async () => {
  const schema = schemaOf("type Query { forbidden: Int again: Int }");
  const forbid = vi.fn<() => object>(() => {
    throw new EvalError("Code generation from strings disallowed for this context");
  });
  const rootValue = { forbidden: 1, again: "2" };
  vi.stubGlobal("Function", new Proxy(Function, { construct: forbid }));
  onTestFinished(() => void vi.unstubAllGlobals());

  await same(schema, "{ forbidden }", { rootValue });
  expect(forbid).toHaveBeenCalledTimes(1);
  await same(schema, "{ again }", { rootValue });
  expect(forbid).toHaveBeenCalledTimes(2);
});

describe.each(["portico", "graphql-js"] as const)("limits.objects with the executor %s", (executor) => {
  it("leaves it to graphql to reject a value that is not a list", async () => {
    const values = [7, "text", {}, true, () => 1];
    const schema = schemaOf("type Query { list(at: Int): [A] } type A { n: Int }", {
      "Query.list": (_source, { at }: { readonly at: number }) => values[at],
    });
    const { client } = await openSchema(schema, { executor, limits: { objects: 1 } });

    for (const at of values.keys()) {
      const { data, errors } = bodyOf(await client.post("/graphql", { body: { query: `{ list(at: ${at}) { n } }` } }));
      expect(data).toEqual({ list: null });
      expect(errors).toHaveLength(1);
      expect(errors?.[0]?.extensions.code).toBe("INTERNAL_SERVER_ERROR");
    }
  });

  it("is not used up by the objects of an introspection", async () => {
    const schema = schemaOf("type Query { a: A } type A { n: Int }", { "Query.a": () => ({ n: 1 }) });
    const { client } = await openSchema(schema, { executor, limits: { objects: 1 } });
    const query = '{ a { n } __schema { queryType { name } types { name } } __type(name: "A") { fields { name } } }';

    const { data, errors } = bodyOf(await client.post("/graphql", { body: { query } }));

    expect(errors).toBeUndefined();
    expect(data).toMatchObject({ a: { n: 1 }, __type: { fields: [{ name: "n" }] } });
  });
});
