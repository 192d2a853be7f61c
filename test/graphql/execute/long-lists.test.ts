import { setImmediate as turn } from "node:timers/promises";
import { getOperationAST, type OperationDefinitionNode, parse } from "graphql";
import { describe, expect, it } from "vitest";
import { Plan } from "../../../src/graphql/execute/plan/plan.ts";
import { messages, same, schemaOf } from "./same-as-graphql.ts";
import { seen } from "./same-result.ts";
import { controlWorkTime, looksAtClock, pausesSoFar, workTime } from "./work-time.ts";

controlWorkTime();

const numbered = (count: number): { readonly n: unknown }[] => Array.from({ length: count }, (_, n) => ({ n }));

/** Executes an operation, and counts how often it continues in a later turn of the event loop. */
async function pausesOf(text: string, rootValue: unknown): Promise<number> {
  const schema = schemaOf("type Query { a: [A!] b: [A!] ints: [Int] } type A { n: Int list: [A!] }");
  const document = parse(text);
  const plan = Plan.compile(schema, document, getOperationAST(document) as OperationDefinitionNode);
  const input = { rootValue, contextValue: undefined, variables: {}, mostObjects: Number.POSITIVE_INFINITY };
  const before = pausesSoFar();
  const result = await plan?.execute(input);
  expect(result).not.toHaveProperty("errors");
  return pausesSoFar() - before;
}

describe("a list of many objects", () => {
  it("looks at the clock after 2,048 objects and then after every 256, and pauses only if its time is over", async () => {
    for (const [length, expected] of [
      [2_047, 0],
      [2_048, 1],
      [2_048 + 255, 1],
      [2_048 + 256, 2],
      [2_048 + 10 * 256, 11],
    ] as const) {
      workTime(Number.POSITIVE_INFINITY);
      expect(await pausesOf("{ a { n } }", { a: numbered(length) }), `${length} objects in time`).toBe(0);
      expect(looksAtClock(), `${length} objects`).toBe(expected);
    }
    workTime(1);
    expect(await pausesOf("{ a { n } }", { a: numbered(2_047) })).toBe(0);
    expect(await pausesOf("{ a { n } }", { a: numbered(2_050) })).toBe(3);
  });

  it("pauses also in a list of numbers, in one that is iterated, and in one that calls methods", async () => {
    for (const [text, rootValue] of Object.entries({
      "{ ints }": { ints: Array.from({ length: 3_000 }, (_, n) => n) },
      "{ a { n } }": { a: new Set(numbered(3_000)) },
      "{ b: a { n } }": { a: numbered(300).map(({ n }) => ({ n: () => n })) },
    })) {
      workTime(2);
      expect(await pausesOf(text, rootValue), text).toBeGreaterThan(1);
    }
  });

  it("calls methods in the order of graphql, also after a pause", async () => {
    workTime(2);
    const schema = schemaOf("type Query { a: [A!] b: Int } type A { n: Int list: [A!] m: Int }");
    const calls: string[] = [];
    const method = (name: string) => (): number => {
      calls.push(name);
      return name.length;
    };
    const list = (name: string, length: number): object[] =>
      Array.from({ length }, (_, n) => ({ n: method(`${name}${n}.n`), m: method(`${name}${n}.m`) }));
    const a = list("a", 3).map((one, n) => ({ ...one, list: list(`a${n}.list`, 200) }));

    await same(schema, "{ a { n list { n m } m } b }", { rootValue: { a, b: method("b") } });

    // graphql has run first, then a plan without and one with generated code.
    const length = calls.length / 3;
    expect(calls.slice(length, 2 * length)).toEqual(calls.slice(0, length));
    expect(calls.slice(2 * length)).toEqual(calls.slice(0, length));
  });

  it("has the same result as graphql if two lists pause and the first one calls methods after its pause", async () => {
    workTime(2);
    const schema = schemaOf("type Query { a: [A!] b: [A!] c: [A!] } type A { n: Int }");
    const a = [...numbered(3_000), ...numbered(3_000).map(({ n }) => ({ n: () => n }))];

    const result = await same(schema, "{ a { n } b { n } c { n } }", {
      rootValue: { a, b: numbered(5_000), c: numbered(10) },
    });

    expect(result).not.toHaveProperty("errors");
  });

  it("has the same result as graphql if lists are nested in lists", async () => {
    workTime(2);
    const schema = schemaOf("type Query { a: [A!] } type A { n: Int list: [A!] }");
    const list = numbered(900);
    const a = numbered(12).map(({ n }) => ({ n, list: list.map((one) => ({ ...one, list: numbered(2) })) }));

    const result = await same(schema, "{ a { n list { n list { n } } } }", { rootValue: { a } });

    expect(result).not.toHaveProperty("errors");
  });

  it("has the same result as graphql if objects are added while it pauses", async () => {
    workTime(1);
    const schema = schemaOf("type Query { a: [A!] b: Int } type A { n: Int }");
    const rootValue = {
      get a(): unknown {
        const list = numbered(2_500);
        setImmediate(() => list.push({ n: -1 }));
        return list;
      },
    };
    const document = parse("{ a { n } }");
    const plan = Plan.compile(schema, document, getOperationAST(document) as OperationDefinitionNode);
    const input = { rootValue, contextValue: undefined, variables: {}, mostObjects: Number.POSITIVE_INFINITY };

    const result = await plan?.execute(input);

    expect(result).toHaveProperty("data.a.length", 2_501);
    expect(result).toHaveProperty("data.a.2500", { n: -1 });
  });

  it("fails with the error that comes first, also while it pauses", async () => {
    workTime(2);
    const schema = schemaOf("type Query { a: [A!] } type A { n: Int! }");
    const later = async (callbacks: number): Promise<never> => {
      for (let index = 0; index < callbacks; index++) await Promise.resolve();
      throw new Error(`after ${callbacks} callbacks`);
    };
    const rootValue = {
      get a(): unknown {
        return [{ n: later(9) }, { n: later(1) }, ...numbered(4_500)];
      },
    };

    const result = await same(schema, "{ a { n } }", { rootValue });

    expect(seen(result).data).toBe('{"a":null}');
    expect(messages(result)).toEqual(["after 1 callbacks"]);
  });

  it("fails if an object after a pause does", async () => {
    workTime(2);
    const schema = schemaOf("type Query { a: [A!] b: [A] } type A { n: Int! }");
    const list = [...numbered(3_000), { n: null }, { n: Promise.resolve(1) }];

    const result = await same(schema, "{ a { n } b { n } }", { rootValue: { a: list, b: list } });

    expect(result).toHaveProperty("data.a", null);
    expect(result).toHaveProperty("data.b.3000", null);
    expect(messages(result)).toEqual(Array.from({ length: 2 }, () => "Cannot return null for non-nullable field A.n."));
  });

  it("ends its object if it fails after a pause, and the fields after it do not run", async () => {
    workTime(1);
    const schema = schemaOf("type Query { a: A } type A { n: Int! list: [A!]! }");
    const a = { list: [...numbered(2_100), { n: null }], n: null };

    const result = await same(schema, "{ a { list { n } n } }", { rootValue: { a } });

    expect(result.errors).toHaveLength(1);
    expect(result.errors?.[0]?.path).toEqual(["a", "list", 2_100, "n"]);
  });

  it("is not continued after the objects have become too many", async () => {
    workTime(2);
    const schema = schemaOf("type Query { a: [A!] b: [A!] } type A { n: Int }");
    const document = parse("{ a { n } b { n } }");
    const plan = Plan.compile(schema, document, getOperationAST(document) as OperationDefinitionNode);
    let read = 0;
    const counted = numbered(5_000).map(({ n }) => ({
      get n(): unknown {
        read++;
        return n;
      },
    }));
    const rootValue = { a: numbered(4_000), b: counted };

    const result = await plan?.execute({ rootValue, contextValue: undefined, variables: {}, mostObjects: 3_000 });
    const before = read;
    for (let turns = 0; turns < 5; turns++) await turn();

    expect(result).toMatchObject({ data: null, errors: [{ extensions: { code: "OBJECT_LIMIT_EXCEEDED" } }] });
    expect(read).toBe(before);
    expect(read).toBeLessThan(10);
  });
});
