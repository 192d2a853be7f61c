import { tracingChannel } from "node:diagnostics_channel";
import { setImmediate as turn } from "node:timers/promises";
import {
  type ExecutionResult,
  type GraphQLSchema,
  getOperationAST,
  type OperationDefinitionNode,
  parse,
  versionInfo,
} from "graphql";
import { describe, expect, it, onTestFinished } from "vitest";
import { Plan } from "../../../src/graphql/execute/plan/plan.ts";
import { messages, type Resolver, same, schemaOf } from "./same-as-graphql.ts";
import { seen } from "./same-result.ts";
import { unhandledRejections } from "./unhandled-rejections.ts";

const unhandled = unhandledRejections();

/** The members of `info` that graphql 16 does not have. */
interface NewInfo {
  readonly getAbortSignal: () => AbortSignal;
  readonly getAsyncHelpers: () => {
    readonly promiseAll: (values: readonly unknown[]) => Promise<unknown[]>;
    readonly track: (values: readonly unknown[]) => void;
  };
  readonly variableValues: unknown;
}
type NewResolver = (info: NewInfo, args: object) => unknown;
const withInfo =
  (resolve: NewResolver): Resolver =>
  (_source, args: object, _context, info) =>
    resolve(info as unknown as NewInfo, args);

function execute(schema: GraphQLSchema, text: string, variables = {}, mostObjects = 1_000) {
  const document = parse(text);
  const plan = Plan.compile(schema, document, getOperationAST(document) as OperationDefinitionNode);
  return plan?.execute({ rootValue: undefined, contextValue: undefined, variables, mostObjects });
}

/** A list whose items are asked for one by one, and whose end is noted. */
function watched(items: readonly unknown[], ended: string[], failure?: Error) {
  return async function* (): AsyncGenerator<unknown> {
    try {
      for (const item of items) yield item;
      if (failure !== undefined) throw failure;
    } finally {
      ended.push("ended");
    }
  };
}

describe.runIf(versionInfo.major >= 17)("a plan with graphql 17", () => {
  it("passes one signal to its resolvers, which is aborted when the execution has ended", async () => {
    const infos: NewInfo[] = [];
    const states: boolean[] = [];
    const resolve = withInfo(async (info) => {
      infos.push(info);
      states.push(info.getAbortSignal().aborted);
      await turn();
      states.push(info.getAbortSignal().aborted);
      return 1;
    });
    const quiet = withInfo((info) => infos.push(info));
    const schema = schemaOf("type Query { a: Int b: Int quiet: Int }", {
      "Query.a": resolve,
      "Query.b": resolve,
      "Query.quiet": quiet,
    });

    await execute(schema, "{ a b }");
    await execute(schema, "{ quiet }");

    expect(states).toEqual([false, false, false, false]);
    const [first, second, third] = infos.map(({ getAbortSignal }) => getAbortSignal());
    expect(second).toBe(first);
    expect(third).not.toBe(first);
    expect([first, third].map((signal) => signal?.aborted)).toEqual([true, true]);
  });

  it("helps its resolvers to wait for several promises, and handles those that nothing waits for", async () => {
    const late = async (message: string): Promise<never> => {
      await turn();
      throw new Error(message);
    };
    const schema = schemaOf("type Query { all: [Int] fails: [Int] tracked: Int same: Boolean }", {
      "Query.all": withInfo(({ getAsyncHelpers }) => getAsyncHelpers().promiseAll([1, Promise.resolve(2)])),
      "Query.fails": withInfo(({ getAsyncHelpers }) =>
        getAsyncHelpers().promiseAll([late("later"), Promise.reject(new Error("first")), null, undefined, 3]),
      ),
      "Query.tracked": withInfo(({ getAsyncHelpers }) => {
        getAsyncHelpers().track([late("tracked"), null, undefined, 4, {}]);
        return 1;
      }),
      "Query.same": withInfo(({ getAsyncHelpers }) => getAsyncHelpers() === getAsyncHelpers()),
    });
    unhandled.length = 0;

    const result = (await execute(schema, "{ all fails tracked same }")) as ExecutionResult;
    for (let turns = 0; turns < 5; turns++) await turn();

    expect(seen(result).data).toBe('{"all":[1,2],"fails":null,"tracked":1,"same":true}');
    expect(messages(result)).toEqual(["first"]);
    expect(unhandled).toEqual([]);
  });

  it("passes variables with their sources, and objects without a prototype", async () => {
    const received: unknown[] = [];
    const note = withInfo((info, args) => {
      const { sources, coerced } = info.variableValues as { readonly sources: object; readonly coerced: object };
      received.push([Object.getPrototypeOf(args), JSON.stringify(args), JSON.stringify(coerced), Object.keys(sources)]);
      return 1;
    });
    const schema = schemaOf("type Query { a(n: Int): Int b: Int }", { "Query.a": note, "Query.b": note });

    await execute(schema, "query ($n: Int = 5) { a(n: $n) x: a(n: 1) b }");
    await execute(schema, "{ a }");

    expect(received).toEqual([
      [null, '{"n":5}', '{"n":5}', ["n"]],
      [null, '{"n":1}', '{"n":5}', ["n"]],
      [null, "{}", '{"n":5}', ["n"]],
      [null, "{}", "{}", []],
    ]);
  });

  it.each(["execute", "execute:variableCoercion", "execute:rootSelectionSet", "resolve"])(
    "leaves the execution to graphql while a tool listens to its channel %s",
    async (name) => {
      const schema = schemaOf("type Query { a: Int }");
      const channel = tracingChannel(`graphql:${name}`);
      const listener = { start() {}, end() {}, asyncStart() {}, asyncEnd() {}, error() {} };
      channel.subscribe(listener);
      onTestFinished(() => channel.unsubscribe(listener));

      expect(execute(schema, "{ a }")).toBeNull();
      channel.unsubscribe(listener);
      expect(execute(schema, "{ a }")).toEqual({ data: { a: null } });
    },
  );
});

describe.runIf(versionInfo.major >= 17)("a list from an async iterator", () => {
  const SDL = "type Query { list: [Int] sure: [Int!] objects: [A!] } type A { n: Int! }";

  it("has its items, also those that are promises or objects", async () => {
    const ended: string[] = [];
    const schema = schemaOf(SDL, {
      "Query.list": watched([1, null, 2], ended),
      "Query.objects": watched([{ n: 1 }, { n: async () => 2 }], ended),
    });

    const result = await same(schema, "{ list objects { n } }");

    expect(seen(result).data).toBe('{"list":[1,null,2],"objects":[{"n":1},{"n":2}]}');
    expect(ended).toHaveLength(6);
  });

  it("is null with the error of the iterator, which is located at the list", async () => {
    const schema = schemaOf(SDL, { "Query.list": watched([1], [], new Error("broken")) });

    const result = await same(schema, "{ list }");

    expect(seen(result).data).toBe('{"list":null}');
    expect(result.errors?.map(({ message, path }) => [message, path])).toEqual([["broken", ["list"]]]);
  });

  it("closes the iterator when one of its items fails at once", async () => {
    const ended: string[] = [];
    const schema = schemaOf(SDL, { "Query.sure": watched([1, null, 2], ended) });

    const result = await same(schema, "{ sure }");
    await turn();

    expect(seen(result).data).toBe('{"sure":null}');
    expect(ended).toHaveLength(3);
  });

  it.each([
    ["no return", undefined],
    ["a return that throws", () => Promise.reject(new Error("cannot close"))],
  ])("fails with the error of its item, if the iterator has %s", async (_title, close) => {
    const schema = schemaOf(SDL, {
      "Query.sure": () => ({
        [Symbol.asyncIterator]: () => ({
          next: async () => ({ done: false, value: null }),
          ...(close === undefined ? {} : { return: close }),
        }),
      }),
    });
    unhandled.length = 0;

    const result = await same(schema, "{ sure }");
    await turn();

    expect(messages(result)).toEqual(["Cannot return null for non-nullable field Query.sure."]);
    expect(unhandled).toEqual([]);
  });

  it("closes the iterator when the execution has ended meanwhile", async () => {
    const ended: string[] = [];
    const forever = async function* (): AsyncGenerator<unknown> {
      try {
        for (;;) {
          await turn();
          yield 1;
        }
      } finally {
        ended.push("ended");
      }
    };
    const many = async (): Promise<object[]> => {
      await turn();
      return [{ n: 1 }, { n: 2 }, { n: 3 }];
    };
    const schema = schemaOf(SDL, { "Query.list": forever, "Query.objects": many });

    const result = await execute(schema, "{ list objects { n } }", {}, 2);
    for (let turns = 0; turns < 5; turns++) await turn();

    expect(result).toMatchObject({ errors: [{ extensions: { code: "OBJECT_LIMIT_EXCEEDED" } }] });
    expect(ended).toEqual(["ended"]);
  });
});
