import {
  type GraphQLEnumType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getOperationAST,
  type OperationDefinitionNode,
  parse,
  versionInfo,
} from "graphql";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { Plan, type PlanOptions } from "../../../src/graphql/execute/plan/plan.ts";
import { type Resolver, schemaOf } from "./same-as-graphql.ts";

type Variables = Readonly<Record<string, unknown>>;

/** Compiles an operation, and returns the function that executes it. */
function compiled(schema: GraphQLSchema, text: string, rootValue: unknown, options: PlanOptions = {}) {
  const document = parse(text);
  const plan = Plan.compile(schema, document, getOperationAST(document) as OperationDefinitionNode, options);
  return (variables: Variables = {}): object => {
    const result = plan?.execute({ rootValue, contextValue: undefined, variables, mostObjects: 1_000_000 });
    expect(result).toHaveProperty("data");
    expect(result).not.toHaveProperty("errors");
    return Object(result) as object;
  };
}

/** Counts how often a field of a type is looked up, which happens only while a selection is compiled. */
function lookupsIn(schema: GraphQLSchema, type: string): () => number {
  const getFields = vi.spyOn(schema.getType(type) as GraphQLObjectType, "getFields");
  return () => getFields.mock.calls.splice(0).length;
}

describe("a plan coerces arguments", () => {
  /** Returns how often the literal `X` is coerced while an operation is executed, and the arguments of the resolver. */
  function watched(selection: string) {
    const calls: string[] = [];
    const called: Resolver = (_source, args: object) => {
      calls.push(JSON.stringify(args));
      Object.assign(args, { e: "changed" });
      return 1;
    };
    const schema = schemaOf(
      `enum E { X Y } scalar Any type Query { items: [A!]! }
       type A { a(e: E, n: Int, list: [E]): Int any(e: E, any: Any): Int }`,
      { "A.a": called, "A.any": called },
    );
    const method = versionInfo.major >= 17 ? "coerceInputLiteral" : "parseLiteral";
    const coerce = vi.spyOn(schema.getType("E") as GraphQLEnumType, method as "parseLiteral");
    const execute = compiled(schema, `query ($n: Int, $e: E) { items { ${selection} } }`, { items: [{}, {}, {}] });
    return (variables: Variables): unknown => {
      coerce.mockClear();
      calls.length = 0;
      execute(variables);
      return [coerce.mock.calls.length, ...new Set(calls)];
    };
  }

  it("once, if they are constants", () => {
    const run = watched("a(e: X)");

    expect(run({})).toEqual([1, '{"e":"X"}']);
    expect(run({})).toEqual([0, '{"e":"X"}']);
  });

  it("once for each execution, if one of them is a variable", () => {
    const run = watched("a(e: X, n: $n)");

    expect(run({ n: 1 })).toEqual([1, '{"e":"X","n":1}']);
    expect(run({ n: 2 })).toEqual([1, '{"e":"X","n":2}']);
  });

  it("for every call, if one of them is a list, which a resolver could change", () => {
    const run = watched("a(list: [X, Y])");

    expect(run({})).toEqual([8, '{"list":["X","Y"]}']);
    expect(run({})).toEqual([6, '{"list":["X","Y"]}']);
    expect(watched("a(list: [X, $e])")({ e: "Y" })).toEqual([3, '{"list":["X","Y"]}']);
  });

  it("for every call, if a custom scalar parses one of them", () => {
    const run = watched("any(e: X, any: 7)");

    expect(run({})).toEqual([3, '{"e":"X","any":7}']);
    expect(run({})).toEqual([3, '{"e":"X","any":7}']);
  });
});

describe("a plan compiles a selection", () => {
  it("once, also for several objects and executions", () => {
    const schema = schemaOf("type Query { items: [A!]! } type A { b: Int c: Int }");
    const lookups = lookupsIn(schema, "A");
    const execute = compiled(schema, "{ items { b c } }", { items: [{}, {}] }, { fields: 3 });

    expect(lookups()).toBe(0);
    execute();
    expect(lookups()).toBe(2);
    execute();
    expect(lookups()).toBe(0);
  });

  it("once for each of the latest eight combinations of its conditions", () => {
    const schema = schemaOf("type Query { a: A } type A { b: Int }");
    const lookups = lookupsIn(schema, "A");
    const names = ["w", "x", "y", "z"];
    const declared = names.map((name) => `$${name}: Boolean!`).join();
    const conditions = names.map((name) => `${name}: __typename @include(if: $${name})`).join(" ");
    const execute = compiled(schema, `query (${declared}) { ${conditions} a { b } }`, { a: {} });
    const run = (bits: number): number => {
      execute(Object.fromEntries(names.map((name, index) => [name, (bits & (1 << index)) > 0])));
      return lookups();
    };

    for (let bits = 0; bits < 9; bits++) expect(run(bits)).toBe(1);
    for (let bits = 1; bits < 9; bits++) expect(run(bits)).toBe(0);
    expect(run(0)).toBe(1);
    expect(run(1)).toBe(1);
    expect(run(3)).toBe(0);
  });

  it("again after its forms have grown beyond twice the fields of the operation", () => {
    const schema = schemaOf("type Query { a: A } type A { b: Int c: Int }");
    const lookups = lookupsIn(schema, "A");
    const text = "query ($x: Boolean!, $y: Boolean!) { a { b @include(if: $x) c @include(if: $y) } }";
    const execute = compiled(schema, text, { a: {} }, { fields: 3 });
    const run = (x: boolean, y: boolean): number => {
      execute({ x, y });
      return lookups();
    };

    // Three, one and two fields are compiled, which is twice the number of fields; the next form makes it more.
    expect([run(true, true), run(false, false), run(true, false)]).toEqual([2, 0, 1]);
    expect([run(true, true), run(false, false), run(true, false)]).toEqual([0, 0, 0]);
    expect(run(false, true)).toBe(1);
    expect(run(true, true)).toBe(2);
    expect(run(true, true)).toBe(0);
  });

  it("again after an interface has made it grow beyond twice the fields of the operation", () => {
    const schema = schemaOf(
      "interface I { n: Int } type A implements I { n: Int } type B implements I { n: Int } type Query { list: [I!] }",
    );
    const lookups = lookupsIn(schema, "A");
    const list = [{ __typename: "A" }];
    const execute = compiled(schema, "{ list { n } }", { list }, { fields: 1 });

    expect([execute() && lookups(), execute() && lookups()]).toEqual([1, 0]);
    list.push({ __typename: "B" });
    // The plan has now three fields.
    expect([execute() && lookups(), execute() && lookups(), execute() && lookups()]).toEqual([0, 1, 1]);
  });
});

describe("the code of a selection", () => {
  /** Counts the functions that are created from source text. */
  function generated(): () => number {
    const create = vi.fn<(target: typeof Function, args: string[]) => object>((target, args) =>
      Reflect.construct(target, args),
    );
    vi.stubGlobal("Function", new Proxy(Function, { construct: create }));
    onTestFinished(() => void vi.unstubAllGlobals());
    return () => create.mock.calls.splice(0).length;
  }
  let last = 0;
  /** Names that no selection had before, because the code for the same names is shared. */
  const newNames = (count: number): string[] => Array.from({ length: count }, () => `f${last++}`);

  /** Selects a list of objects: two selections, with the one of the root object. */
  function listOf(length: number, names: readonly string[], options?: PlanOptions) {
    const schema = schemaOf(`type Query { list: [A!] } type A { ${names.map((name) => `${name}: Int`).join(" ")} }`);
    const item = Object.fromEntries(names.map((name, index) => [name, index]));
    const list = Array.from({ length }, () => item);
    const [key = ""] = names;
    const execute = compiled(schema, `{ ${key}: list { ${names.join(" ")} } }`, { list }, options);
    return () => expect(execute()).toEqual({ data: { [key]: list } });
  }

  it("is generated once, with the thousandth object", () => {
    const count = generated();
    const execute = listOf(333, newNames(2));

    for (let times = 0; times < 3; times++) execute();
    expect(count()).toBe(0);
    execute();
    expect(count()).toBe(1);
    for (let times = 0; times < 4; times++) execute();
    expect(count()).toBe(0);
  });

  it("is generated after the given number of objects, at once with 0, and never with Infinity", () => {
    const count = generated();

    listOf(2, newNames(1), { hotAfter: 3 })();
    expect(count()).toBe(0);
    listOf(3, newNames(1), { hotAfter: 3 })();
    expect(count()).toBe(1);
    listOf(0, newNames(1), { hotAfter: 0 })();
    expect(count()).toBe(1);
    listOf(1, newNames(1), { hotAfter: 0 })();
    expect(count()).toBe(2);
    listOf(1_500, newNames(1), { hotAfter: Number.POSITIVE_INFINITY })();
    expect(count()).toBe(0);
  });

  it("is shared by operations that select the same names", () => {
    const count = generated();
    const names = newNames(3);

    listOf(1, names, { hotAfter: 0 })();
    expect(count()).toBe(2);
    listOf(1, names, { hotAfter: 0 })();
    expect(count()).toBe(0);
  });

  it("is generated for up to 100 fields", () => {
    const count = generated();

    listOf(2, newNames(100), { hotAfter: 0 })();
    expect(count()).toBe(2);
    listOf(2, newNames(101), { hotAfter: 0 })();
    expect(count()).toBe(1);
  });

  it("is kept for the latest thousand selections only", () => {
    const count = generated();
    const schema = schemaOf("type Query { n: Int }");
    const [first = "", ...others] = newNames(1_001);
    const run = (key: string): number => {
      expect(compiled(schema, `{ ${key}: n }`, { n: 1 }, { hotAfter: 0 })()).toEqual({ data: { [key]: 1 } });
      return count();
    };

    expect([run(first), run(first)]).toEqual([1, 0]);
    for (const other of others) expect(run(other)).toBe(1);
    expect(run(first)).toBe(1);
  });
});
