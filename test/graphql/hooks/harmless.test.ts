import { AsyncLocalStorage } from "node:async_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { PorticoApp } from "portico";
import { field, Graph, type OperationEnd, type OperationHook, schema, t } from "portico/graphql";
import { logCatcher, type TestClient, testClient } from "portico/testing";
import { describe, expect, it, vi } from "vitest";
import { overBoth } from "../../matrix.ts";
import { timed } from "./timed.ts";

const never = (): Promise<never> => new Promise(() => {});

describe("a hook never harms a response", () => {
  const log = logCatcher();
  const seen: string[] = [];
  const build = (...hooks: readonly OperationHook[]) => {
    const app = new PorticoApp({ logger: log });
    const graph = new Graph(schema({ query: { hello: field(t.string)(() => "world") } })).mount(app);
    for (const hook of hooks) graph.onOperation(hook);
    return app;
  };
  const wild: readonly OperationHook[] = [
    () => {
      throw new Error("thrown by a hook");
    },
    () => {
      // oxlint-disable-next-line typescript/only-throw-error -- what a hook may do
      throw undefined;
    },
    async () => {
      throw new Error("rejected by a hook");
    },
    never,
    // Something to wait for that is not a promise, and throws when it is looked at.
    () => ({
      // oxlint-disable-next-line unicorn/no-thenable -- what a hook may do
      then() {
        throw new Error("a then that throws");
      },
    }),
    (result) => {
      (result as { data: unknown }).data = "changed";
      (result.errors as unknown[]).push("changed");
    },
    {
      around: () => {
        throw new Error("thrown around");
      },
    },
    { around: never },
    { around: () => "did not run it" },
    {
      around: async (run) => {
        await run();
        throw new Error("rejected around");
      },
    },
    {
      around: async (run) => {
        await Promise.all([run(), run()]);
      },
    },
    { around: (run) => void setTimeout(() => void run()) },
    (_result, { operationName }) => void seen.push(operationName ?? ""),
  ];

  overBoth(
    "one that throws, rejects, hangs, changes the result or does not run the operation",
    () => build(...wild),
    async (client: TestClient) => {
      seen.length = 0;
      log.clear();

      const answer = await client.post("/graphql", { body: { query: "query Shelf { hello }" } });
      const batch = await client.post("/graphql", {
        body: [{ query: "query A { hello }" }, { query: "query B { hello }" }],
      });
      await sleep(20);

      expect([answer.status, answer.json()]).toEqual([200, expect.objectContaining({ data: { hello: "world" } })]);
      expect(batch.json()).toMatchObject([{ data: { hello: "world" } }, { data: { hello: "world" } }]);
      // Once each, though the operation was begun twice, or late.
      expect(seen).toEqual(["Shelf", "A", "B"]);
      const said = log.lines.filter(({ msg }) => msg === "an operation hook failed");
      expect(said).toHaveLength(3 * 6);
      for (const text of ["thrown by", "rejected by", "then that throws", "thrown around", "rejected around"])
        expect(log.text).toContain(text);
    },
  );

  it("a response does not wait for the promise of a hook", async () => {
    const slow = vi.fn<() => Promise<void>>(() => new Promise(() => {}));
    const { ask } = await timed([slow]);

    await ask("{ hello }");

    expect(slow).toHaveBeenCalledOnce();
  });
});

describe("a hook that hangs", () => {
  it("is logged after ten seconds, once until it has caught up", async () => {
    const release: (() => void)[] = [];
    const { ask, log } = await timed([() => new Promise<void>((resolve) => void release.push(resolve))]);
    const late = () => log.lines.filter(({ msg }) => msg.includes("has not finished"));
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const hang = async (ms: number) => {
      await Promise.all([ask("{ hello }"), ask("{ hello }")]);
      vi.advanceTimersByTime(ms);
    };
    try {
      await hang(9_999);
      expect(late()).toEqual([]);
      vi.advanceTimersByTime(1);
      await hang(10_000);
      expect(late()).toEqual([
        expect.objectContaining({
          level: "error",
          msg: "an operation hook has not finished after 10 s",
          unfinished: 2,
        }),
      ]);

      for (const resolve of release) resolve();
      await hang(10_000);

      expect(late()).toHaveLength(2);
    } finally {
      vi.useRealTimers();
    }
  });

  it("is skipped at 1,000 pending calls, each of which holds a result, and called again when they end", async () => {
    const release: (() => void)[] = [];
    const quick = vi.fn<() => void>();
    const { ask, log } = await timed([() => new Promise<void>((resolve) => void release.push(resolve)), quick], {
      transport: { batch: 1_010 },
    });
    const many = Array.from({ length: 1_005 }, () => ({ query: "{ hello }" }));

    await ask(many);
    const called = release.length;
    for (const resolve of release) resolve();
    await ask("{ hello }");

    expect([called, release.length, quick.mock.calls.length]).toEqual([1_000, 1_001, 1_006]);
    expect(log.lines.filter(({ msg }) => msg.includes("skipping an operation hook"))).toHaveLength(1);
  });
});

describe("an around hook", () => {
  it("runs the operation inside it, and receives the result", async () => {
    const inside = new AsyncLocalStorage<string>();
    const ends: OperationEnd[] = [];
    const where = field(t.string)(async () => {
      await sleep(1);
      return inside.getStore() ?? "outside";
    });
    const app = new PorticoApp({ logger: false });
    const outer: OperationHook = { around: (run) => inside.run("outer", run) };
    class Inner {
      readonly name = "inner";
      async around(run: () => Promise<OperationEnd>): Promise<void> {
        ends.push(await inside.run(`${inside.getStore()} ${this.name}`, run));
      }
    }
    new Graph(schema({ query: { where } })).onOperation(outer).onOperation(new Inner()).mount(app);

    const answer = await testClient(app).post("/graphql", { body: { query: "query Shelf { where }" } });

    expect(answer.json()).toMatchObject({ data: { where: "outer inner" } });
    expect(ends).toMatchObject([
      { result: { data: { where: "outer inner" }, ok: true }, context: { operationName: "Shelf", isRefused: false } },
    ]);
  });
});
