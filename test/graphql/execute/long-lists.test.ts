import { setImmediate as turn } from "node:timers/promises";
import { getOperationAST, type OperationDefinitionNode, parse } from "graphql";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { Plan } from "../../../src/graphql/execute/plan/plan.ts";
import { messages, same, schemaOf } from "./same-as-graphql.ts";
import { seen } from "./same-result.ts";

const numbered = (count: number): { readonly n: unknown }[] => Array.from({ length: count }, (_, n) => ({ n }));

/** Executes an operation, and counts how often it continues in a later turn of the event loop. */
async function pausesOf(text: string, rootValue: unknown): Promise<number> {
  const schema = schemaOf("type Query { a: [A!] b: [A!] } type A { n: Int list: [A!] }");
  const document = parse(text);
  const plan = Plan.compile(schema, document, getOperationAST(document) as OperationDefinitionNode);
  const input = { rootValue, contextValue: undefined, variables: {}, mostObjects: Number.POSITIVE_INFINITY };
  const later = vi.spyOn(globalThis, "setImmediate");
  onTestFinished(() => later.mockRestore());
  const result = await plan?.execute(input);
  expect(result).not.toHaveProperty("errors");
  const pauses = later.mock.calls.length;
  later.mockRestore();
  return pauses;
}

describe("a list of many objects", () => {
  it("pauses after every 2,000 objects, and at no other time", async () => {
    for (const [length, pauses] of [
      [1_999, 0],
      [2_000, 1],
      [3_999, 1],
      [4_000, 2],
      [20_000, 10],
    ] as const)
      expect(await pausesOf("{ a { n } }", { a: numbered(length) }), `${length} objects`).toBe(pauses);
  });

  it("does not pause once one of its objects has called a method", async () => {
    expect(await pausesOf("{ a { n } }", { a: [{ n: () => 1 }, ...numbered(9_999)] })).toBe(0);
  });

  it("has the same result as graphql if two lists pause and the first one calls methods after its pause", async () => {
    const schema = schemaOf("type Query { a: [A!] b: [A!] c: [A!] } type A { n: Int }");
    const a = [...numbered(3_000), ...numbered(3_000).map(({ n }) => ({ n: () => n }))];

    const result = await same(schema, "{ a { n } b { n } c { n } }", {
      rootValue: { a, b: numbered(5_000), c: numbered(10) },
    });

    expect(result).not.toHaveProperty("errors");
  });

  it("has the same result as graphql if lists are nested in lists", async () => {
    const schema = schemaOf("type Query { a: [A!] } type A { n: Int list: [A!] }");
    const list = numbered(900);
    const a = numbered(12).map(({ n }) => ({ n, list: list.map((one) => ({ ...one, list: numbered(2) })) }));

    const result = await same(schema, "{ a { n list { n list { n } } } }", { rootValue: { a } });

    expect(result).not.toHaveProperty("errors");
  });

  it("has the same result as graphql if objects are added while it pauses", async () => {
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
    const schema = schemaOf("type Query { a: [A!] b: [A] } type A { n: Int! }");
    const list = [...numbered(3_000), { n: null }, { n: Promise.resolve(1) }];

    const result = await same(schema, "{ a { n } b { n } }", { rootValue: { a: list, b: list } });

    expect(result).toHaveProperty("data.a", null);
    expect(result).toHaveProperty("data.b.3000", null);
    expect(messages(result)).toEqual(Array.from({ length: 2 }, () => "Cannot return null for non-nullable field A.n."));
  });

  it("is not continued after the objects have become too many", async () => {
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
