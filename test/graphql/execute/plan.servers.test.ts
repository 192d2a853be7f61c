import { execFileSync } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import {
  type ExecutionResult,
  execute,
  type GraphQLInterfaceType,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  getOperationAST,
  introspectionFromSchema,
  type OperationDefinitionNode,
  parse,
  versionInfo,
} from "graphql";
import { describe, expect, it } from "vitest";
import { Plan } from "../../../src/graphql/execute/plan/plan.ts";
import { fieldOf, messages, type Resolver, same, schemaOf } from "./same-as-graphql.ts";
import { seen } from "./same-result.ts";
import { unhandledRejections } from "./unhandled-rejections.ts";

const unhandled = unhandledRejections();

describe("a plan has the same result as graphql", () => {
  it("for a value of the wrong type whose getters throw when it is printed", async () => {
    const schema = schemaOf("type Query { a: A } type A { id: ID }");
    (schema.getType("A") as GraphQLObjectType).isTypeOf = () => false;
    const a = {
      get id(): string {
        throw new Error("getter");
      },
    };

    expect(messages(await same(schema, "{ a { id } }", { rootValue: { a } }))).toEqual(["getter"]);
  });

  it.each([
    ["now", (thrown: object) => () => Promise.reject(thrown)],
    [
      "later",
      (thrown: object) => async () => {
        await sleep(1);
        // oxlint-disable-next-line typescript/only-throw-error -- resolvers may throw anything
        throw thrown;
      },
    ],
  ])(
    "for a thrown value that cannot be printed, %s, but only its field fails, and not its parent",
    async (_title, reject) => {
      const thrown = {
        get message(): string {
          throw new Error("unprintable");
        },
      };
      const schema = schemaOf("type Query { a: A } type A { b: String }", {
        "Query.a": () => ({}),
        "A.b": reject(thrown),
      });

      const document = parse("{ a { b } }");
      const plan = Plan.compile(schema, document, document.definitions[0] as OperationDefinitionNode, { hotAfter: 0 });
      const result = await plan?.execute({
        contextValue: undefined,
        rootValue: undefined,
        variables: {},
        mostObjects: Number.POSITIVE_INFINITY,
      });

      expect(seen(result ?? {})).toEqual({
        data: '{"a":{"b":null}}',
        errors: [expect.stringContaining("cannot be read")],
      });
    },
  );

  it("for a field that fails beside a pending one: graphql 16 waits for it and reports both errors", async () => {
    const schema = schemaOf("type Query { a: A } type A { slow: String now: String! }", {
      "Query.a": () => ({}),
      "A.slow": async () => {
        await sleep(5);
        throw new Error("slow");
      },
    });

    expect(await same(schema, "{ a { slow now } }")).toHaveProperty("errors.length", versionInfo.major >= 17 ? 1 : 2);
  });

  it("for errors below an object that is already null: they are dropped", async () => {
    const late =
      (ms: number): Resolver =>
      async () => {
        await sleep(ms);
        throw new Error(`after ${ms}`);
      };
    const schema = schemaOf(
      "type Query { a: A slow: Int } type A { sure: Int! maybe: Int b: B } type B { maybe: Int }",
      {
        "Query.a": () => ({ b: {} }),
        "A.sure": late(2),
        "A.maybe": late(12),
        "B.maybe": late(12),
        "Query.slow": async () => {
          await sleep(30);
          return 1;
        },
      },
    );

    const result = await same(schema, "{ a { maybe b { maybe } sure } slow }");

    expect(messages(result)).toEqual(["after 2"]);
  });

  it("for items of an async iterator that fail before it ends: the first one in the list is reported", async () => {
    const schema = schemaOf("type Query { list: [A!] } type A { sure: Int! }", {
      "Query.list": async function* (): AsyncGenerator<unknown> {
        yield* [{}, {}, {}];
        await sleep(20);
      },
      "A.sure": async (_source, _args, _context, { path }) => {
        const index = Number(path.prev?.key);
        await sleep([4, 1, 8][index]);
        throw new Error(`item ${index}`);
      },
    });

    const result = await same(schema, "{ list { sure } }");

    const none = 'Expected Iterable, but did not find one for field "Query.list".';
    expect(messages(result)).toEqual([versionInfo.major >= 17 ? "item 0" : none]);
  });

  it("for an item of an async iterator that fails at once: errors below it that come later are dropped", async () => {
    const schema = schemaOf("type Query { list: [A!] } type A { items: [Int!] sure: Int! }", {
      "Query.list": async function* (): AsyncGenerator<unknown> {
        yield { items: [Promise.reject(new Error("late"))], sure: null };
      },
    });

    const result = await same(schema, "{ list { items sure } }");

    expect(messages(result)).not.toContain("late");
  });

  it("for keys that every object inherits", async () => {
    const schema = schemaOf("type Query { a: String b: Int }");

    const result = await same(schema, "{ constructor: a toString: b hasOwnProperty: a valueOf: __typename }", {
      rootValue: { a: "x", b: 1 },
    });

    expect(seen(result).data).toBe('{"constructor":"x","toString":1,"hasOwnProperty":"x","valueOf":"Query"}');
  });

  it("for the key that an assignment takes for the prototype", async () => {
    const schema = schemaOf("type Query { a: A n: Int } type A { n: Int later: Int }", {
      "A.later": async () => sleep(1, 2),
    });
    const document = "{ __proto__: a { __proto__: n other: n } a { __proto__: later } b: a { __proto__: __typename } }";

    const result = await same(schema, document, { rootValue: { a: { n: 1 } } });

    expect(seen(result).data).toBe('{"__proto__":{"__proto__":1,"other":1},"a":{"__proto__":2},"b":{"__proto__":"A"}}');
  });

  it("for sources that are no objects, whose properties graphql does not read", async () => {
    const schema = schemaOf(
      "type Query { text: A number: A list: [A] } type A { length: Int toFixed: String name: String }",
      {
        "Query.text": () => "text",
        "Query.number": () => 7,
        "Query.list": () => [true, () => 1, Symbol.iterator],
      },
    );

    const result = await same(schema, "{ text { length } number { toFixed } }");
    await same(schema, "{ list { name length } }");

    expect(seen(result).data).toBe('{"text":{"length":null},"number":{"toFixed":null}}');
  });

  it("for merged fields of which some are skipped: info has the nodes that are left", async () => {
    const starts = (_source: unknown, _args: unknown, _context: unknown, info: GraphQLResolveInfo): string =>
      info.fieldNodes.map(({ loc }) => loc?.start).join(" ");
    const schema = schemaOf("type Query { a: A } type A { nodes: String }", {
      "Query.a": () => ({}),
      "A.nodes": starts,
    });
    const text = "query ($b: Boolean!) { a { nodes } a @skip(if: $b) { nodes } ... @include(if: $b) { a { nodes } } }";

    const results = [
      await same(schema, text, { variables: { b: true } }),
      await same(schema, text, { variables: { b: false } }),
    ];

    expect(new Set(results.map((result) => seen(result).data)).size).toBe(2);
  });

  it.each([
    ["a field", '{"a":{"b":1,"list":null}}', "{ a { b list { b @include(if: $c) } } }"],
    ["a root field", "null", "{ a { b } other: a @skip(if: $c) { b } }"],
    ["a field that is skipped anyway", '{"a":{}}', "{ a { b @skip(if: true) @include(if: $c) } }"],
    [
      "a fragment that was already spread",
      versionInfo.major >= 17 ? '{"a":null}' : '{"a":{"b":1}}',
      "{ a { ...F ...F @include(if: $c) } } fragment F on A { b }",
    ],
    ["an object whose type is checked", '{"checked":null}', "{ checked { id @include(if: $c) } }"],
  ])("for null in the condition of %s", async (_title, data, selection) => {
    const schema = schemaOf(
      "type Query { a: A checked: Checked } type A { b: Int list: [A!] } type Checked { id: ID }",
    );
    (schema.getType("Checked") as GraphQLObjectType).isTypeOf = () => false;
    const a = { b: 1, list: [{ b: 2 }, { b: 3 }] };

    const result = await same(schema, `query ($c: Boolean = true) ${selection}`, {
      rootValue: { a, checked: {} },
      variables: { c: null },
    });

    expect(seen(result).data).toBe(data);
  });

  it("for more combinations of conditions than it keeps compiled", async () => {
    const schema = schemaOf("type Query { a: Int b: Int c: Int d: Int }");
    const names = ["a", "b", "c", "d"];
    const document = parse(
      `query (${names.map((name) => `$${name}: Boolean!`).join()}) {
        __typename ${names.map((name) => `${name} @include(if: $${name})`).join(" ")} }`,
    );
    const plan = Plan.compile(schema, document, getOperationAST(document) as OperationDefinitionNode);
    const rootValue = { a: 1, b: 2, c: 3, d: 4 };

    for (let bits = 0; bits < 32; bits++) {
      const variables = Object.fromEntries(names.map((name, index) => [name, (bits & (1 << index)) > 0]));
      const expected = await execute({ schema, document, rootValue, variableValues: variables });
      const actual = await plan?.execute({ rootValue, contextValue: undefined, variables, mostObjects: 10 });
      expect(actual).toEqual(JSON.parse(JSON.stringify(expected)));
    }
  });

  it("for arguments that a resolver changes", async () => {
    const schema = schemaOf(
      "input I { n: Int = 1 list: [Int] } type Query { a(i: I, n: Int = 2, e: E = X): String } enum E { X }",
      {
        "Query.a": (_source, args: { i?: { n?: number; list?: number[] }; n?: number }) => {
          const said = JSON.stringify(args);
          args.n = 99;
          if (args.i) args.i.n = 99;
          args.i?.list?.push(99);
          return said;
        },
      },
    );

    const result = await same(schema, "{ a: a(i: {list: [1]}) b: a(i: {list: [1]}) c: a d: a(n: 5) e: a(n: 5, e: X) }");

    expect(seen(result).data).not.toContain("99");
  });

  it("for lists that a resolver changes, as arguments of several objects", async () => {
    const schema = schemaOf("type Query { items: [A!]! } type A { a(list: [Int], n: Int): String }", {
      "Query.items": () => [{}, {}],
      "A.a": (_source, args: { list?: number[]; n?: number }) => {
        const said = JSON.stringify(args);
        args.list?.push(99);
        args.n = 99;
        return said;
      },
    });
    const text =
      "query ($l: [Int], $n: Int) { items { a: a(list: [1]) b: a(list: $l) c: a(list: [$n, 2]) d: a(n: $n) e: a(n: null) } }";

    const result = await same(schema, text, { variables: { l: [5], n: 7 } });

    const [, second] = (result.data as { items: readonly Record<string, string>[] }).items;
    expect([second?.["a"], second?.["c"], second?.["d"]]).toEqual(['{"list":[1]}', '{"list":[7,2]}', '{"n":7}']);
  });

  it.each([
    ["null", null],
    ["undefined", undefined],
    ["a number", 7],
    ["no type", "Nothing"],
    ["a scalar", "Int"],
    ["a type that is not a possible one", "Query"],
    ["a possible type", "T"],
  ])("for an abstract type that resolves to %s", async (_title, name) => {
    const schema = schemaOf("type Query { i: I list: [I!] } interface I { n: Int } type T implements I { n: Int }");
    const type = schema.getType("I") as GraphQLInterfaceType;

    for (const resolveType of [() => name, async () => name]) {
      type.resolveType = resolveType as unknown as GraphQLInterfaceType["resolveType"];
      const rootValue = { i: { n: 1 }, list: [{ n: 2 }] };
      const result = await same(schema, "{ i { n } list { n } }", { rootValue });
      expect(messages(result)).toHaveLength(name === "T" ? 0 : 2);
    }
  });

  it.each(["Int", "Float", "String", "ID", "Boolean", "Int!", "String!"])("for any value of type %s", async (type) => {
    const values = [1, 1.5, -0, 2 ** 31, Number.NaN, Infinity, "", "1", "x", true, false, null, undefined, 7n, [], {}];
    const names = values.map((_, index) => `f${index}`);
    const schema = schemaOf(
      `type Query { a: A list: [${type}] } type A { ${names.map((name) => `${name}: ${type}`).join(" ")} }`,
    );
    const a = Object.fromEntries(values.map((value, index) => [`f${index}`, value]));

    for (const name of names) await same(schema, `{ a { ${name} } }`, { rootValue: { a } });
    const result = await same(schema, `{ a { ${names.join(" ")} } list }`, { rootValue: { a, list: values } });
    expect(messages(result).length).toBeGreaterThan(0);
  });

  it("for errors that are returned instead of objects", async () => {
    const schema = schemaOf("type Query { t: T i: I list: [T] } interface I { n: Int } type T implements I { n: Int }");
    (schema.getType("I") as GraphQLInterfaceType).resolveType = () => "T";
    const rootValue = { t: new Error("one"), i: new Error("two"), list: [{ n: 1 }, new Error("three")] };

    const result = await same(schema, "{ t { n } i { n } list { n } }", { rootValue });

    expect(messages(result)).toEqual(["one", "two", "three"]);
  });

  it("for lists that are sets, generators and texts", async () => {
    const schema = schemaOf("type Query { set: [Int!] each: [A!] text: [String] none: [Int] } type A { n: Int! }", {
      "Query.each": function* (): Generator<unknown> {
        yield { n: 1 };
        yield { n: Promise.resolve(2) };
        yield { n: null };
      },
    });

    const rootValue = { set: new Set([1, 2, 1]), text: "ab", none: 7 };
    expect(seen(await same(schema, "{ set each { n } text none }", { rootValue })).data).toContain('"set":[1,2]');
  });

  it("for introspection", async () => {
    const schema = schemaOf(
      "type Query { a(n: Int = 1): [Int!]! @deprecated } interface I { i: ID } type T implements I { i: ID }",
    );

    expect(introspectionFromSchema(schema)).toBeDefined();
    await same(
      schema,
      '{ __schema { types { name kind fields(includeDeprecated: true) { name type { kind ofType { name } } args { name defaultValue } } possibleTypes { name } } } __type(name: "T") { name } __typename }',
    );
  });

  it("for the root fields of a mutation, which run one after another", async () => {
    const log: string[] = [];
    const step: Resolver = async (_source, { n }: { n: number }) => {
      log.push(`start ${n}`);
      await sleep(3 - n);
      log.push(`end ${n}`);
      if (n === 2) throw new Error("two");
      return n;
    };
    const schema = schemaOf("type Query { q: Int } type Mutation { maybe(n: Int): Int sure(n: Int): Int! }", {
      "Mutation.maybe": step,
      "Mutation.sure": step,
    });

    await same(schema, "mutation { a: maybe(n: 1) b: maybe(n: 2) c: sure(n: 1) }");
    await same(schema, "mutation { a: maybe(n: 1) b: sure(n: 2) c: sure(n: 1) }");

    const [first, second] = [log.slice(0, 18), log.slice(18)];
    expect(first.slice(0, 6)).toEqual(["start 1", "end 1", "start 2", "end 2", "start 1", "end 1"]);
    expect(second).toHaveLength(12);
  });
});

describe("a plan", () => {
  it("has one of graphql's results where the number of promise callbacks decides which errors are reported", async () => {
    const schema = schemaOf("type Query { a: A } type A { maybe: Int sure: Int! }");
    (schema.getType("A") as GraphQLObjectType).isTypeOf = () => Promise.resolve(true);
    const document = parse("{ a { maybe sure } }");
    /** `sure` makes `a` null in a promise callback. `maybe` rejects so many callbacks later. */
    const rootOf = (callbacks: number): unknown => ({
      a: {
        get maybe(): Promise<unknown> {
          let maybe: Promise<unknown> = Promise.reject(new Error("maybe"));
          for (let index = 0; index < callbacks; index++) maybe = maybe.finally(() => {});
          return maybe;
        },
        sure: null,
      },
    });
    const plan = Plan.compile(schema, document, getOperationAST(document) as OperationDefinitionNode);

    const soon = await execute({ schema, document, rootValue: rootOf(0) });
    const later = await execute({ schema, document, rootValue: rootOf(9) });
    const ours = await plan?.execute({ rootValue: rootOf(0), contextValue: undefined, variables: {}, mostObjects: 10 });

    const sure = "Cannot return null for non-nullable field A.sure.";
    // graphql 16 waits for the other fields of an object that fails.
    expect(messages(soon)).toEqual(["maybe", sure]);
    expect(messages(later)).toEqual(versionInfo.major >= 17 ? [sure] : ["maybe", sure]);
    expect(seen(ours as ExecutionResult)).toEqual(seen(later));
  });

  it("handles the rejections of items that come after one that failed", async () => {
    const schema = schemaOf("type Query { list: [Int!] }", {
      "Query.list": () => [Promise.reject(new Error("before")), null, Promise.reject(new Error("after"))],
    });
    const document = parse("{ list }");
    unhandled.length = 0;

    const plan = Plan.compile(schema, document, getOperationAST(document) as OperationDefinitionNode);
    await plan?.execute({ rootValue: undefined, contextValue: undefined, variables: {}, mostObjects: 10 });
    await sleep(5);

    expect(unhandled).toEqual([]);
  });

  it("handles the rejections of objects whose conditions are null", async () => {
    const schema = schemaOf("type Query { list: [A!] } type A { b: Int }");
    const document = parse("query ($c: Boolean = true) { list { b @include(if: $c) } }");
    const rootValue = { list: [sleep(1).then(() => ({ b: 1 })), { b: 2 }] };
    unhandled.length = 0;

    const plan = Plan.compile(schema, document, getOperationAST(document) as OperationDefinitionNode);
    const result = await plan?.execute({ rootValue, contextValue: undefined, variables: { c: null }, mostObjects: 10 });
    await sleep(5);

    expect(result).toHaveProperty("errors.length", 1);
    expect(unhandled).toEqual([]);
  });

  it("uses resolvers that were replaced after it was compiled", async () => {
    const schema = schemaOf("type Query { a: Int b: Int }", { "Query.a": () => 1 });
    const document = parse("{ a b }");
    const plan = Plan.compile(schema, document, getOperationAST(document) as OperationDefinitionNode);
    const run = (): unknown =>
      plan?.execute({ rootValue: { b: 1 }, contextValue: undefined, variables: {}, mostObjects: 10 });

    expect(run()).toEqual({ data: { a: 1, b: 1 } });
    for (const name of ["a", "b"]) fieldOf(schema, `Query.${name}`).resolve = () => 2;
    expect(run()).toEqual({ data: { a: 2, b: 2 } });
  });

  it.each([["incremental delivery", "{ a }", "directive @defer on FIELD type Query { a: Int }"]])(
    "is not made for %s",
    (_title, text, sdl) => {
      const document = parse(text);

      expect(Plan.compile(schemaOf(sdl), document, getOperationAST(document) as OperationDefinitionNode)).toBeNull();
    },
  );

  it("works in a process that forbids generated code", () => {
    const script = `
      import { buildSchema, parse } from "graphql";
      import { Plan } from ${JSON.stringify(new URL("../../../src/graphql/execute/plan/plan.ts", import.meta.url).href)};
      const document = parse("{ list { a b } }");
      const schema = buildSchema("type Query { list: [A!] } type A { a: Int b: String }");
      const plan = Plan.compile(schema, document, document.definitions[0], { hotAfter: 0 });
      const rootValue = { list: [{ a: 1, b: "x" }, { a: "2", b: null }] };
      console.log(JSON.stringify(plan.execute({ rootValue, variables: {}, mostObjects: 10 })));`;
    const flags = ["--disallow-code-generation-from-strings", "--input-type=module", "--eval", script];

    const output = execFileSync(process.execPath, flags, { encoding: "utf8" });

    expect(JSON.parse(output)).toEqual({
      data: {
        list: [
          { a: 1, b: "x" },
          { a: 2, b: null },
        ],
      },
    });
  });
});
