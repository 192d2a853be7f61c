import { setImmediate as turn } from "node:timers/promises";
import { getOperationAST, type OperationDefinitionNode, parse } from "graphql";
import { describe, expect, it } from "vitest";
import { Plan } from "../../../src/graphql/execute/plan/plan.ts";
import { schemaOf } from "./same-as-graphql.ts";

const LIMITED = { data: null, errors: [{ extensions: { code: "OBJECT_LIMIT_EXCEEDED" } }] };

/** Executes an operation in which at most ten objects are allowed. */
function execute(schema: ReturnType<typeof schemaOf>, text: string): unknown {
  const document = parse(text);
  const plan = Plan.compile(schema, document, getOperationAST(document) as OperationDefinitionNode);
  return plan?.execute({ rootValue: undefined, contextValue: undefined, variables: {}, mostObjects: 10 });
}

const SDL = "type Query { q: Int } type A { n: Int many: [A!] }";
const many = Array.from({ length: 11 }, (_, n) => ({ n }));

describe("an execution that has ended because of too many objects", () => {
  it.each([
    ["resolves", (later: PromiseWithResolvers<number>) => later.resolve(1)],
    ["rejects", (later: PromiseWithResolvers<number>) => later.reject(new Error("late"))],
  ])("starts no further field of a mutation when the one before it %s", async (_title, settle) => {
    const [item, second] = [Promise.withResolvers<object>(), Promise.withResolvers<number>()];
    const called: string[] = [];
    const schema = schemaOf(`${SDL} type Mutation { a: [A!] b: Int c: Int }`, {
      // The list is null because of its second item. Its first one is still completed.
      "Mutation.a": () => [item.promise, null],
      "Mutation.b": () => {
        called.push("b");
        return second.promise;
      },
      "Mutation.c": () => called.push("c"),
    });

    const result = execute(schema, "mutation { a { n many { n } } b c }");
    item.resolve({ n: 1, many });
    expect(await result).toMatchObject(LIMITED);
    settle(second);
    await turn();

    expect(called).toEqual(["b"]);
  });

  it("does not wait for fields that are still running, and ignores their results", async () => {
    const [slow, fails] = [Promise.withResolvers<unknown>(), Promise.withResolvers<unknown>()];
    const called: string[] = [];
    const schema = schemaOf(`type Query { slow: A fails: Int list: [A!] } type A { n: Int m: Int }`, {
      "Query.slow": () => slow.promise,
      "Query.fails": () => fails.promise,
      "Query.list": async () => many,
      "A.m": () => called.push("m"),
    });

    const result = await execute(schema, "{ slow { m } fails list { n } }");
    const before = JSON.stringify(result);
    slow.resolve({});
    fails.reject(new Error("late"));
    await turn();

    expect(result).toMatchObject(LIMITED);
    expect(JSON.stringify(result)).toBe(before);
    expect(called).toEqual([]);
  });
});
