import { setTimeout as sleep } from "node:timers/promises";
import { parse } from "graphql";
import { Depend, PorticoApp, provide } from "portico";
import { field, mutation, type ObjectType, object, schema, t } from "portico/graphql";
import { describe, expect, it, vi } from "vitest";
import { openOperation } from "../../src/graphql/operation/running-operation.ts";
import { runOperation } from "../../src/graphql/run/run-operation.ts";
import { ask, data, httpContext, queryFields } from "./ask.ts";

it("[DEP-01] takes the same callables as a route and gives the same value", async () => {
  const sync = (): string => "sync";
  const later = async (): Promise<string> => "later";
  const gives = provide({ sync: Depend(sync), later: Depend(later) })(({ sync, later }) => `${sync} ${later}`);
  const built = schema({
    query: { both: field(t.string, { params: { gives: Depend(gives) } })(({ gives }) => gives) },
  });
  const app = new PorticoApp({ logger: false });
  app.get("/both", { params: { gives: Depend(gives) } }, ({ gives }) => ({ both: gives }));

  const route = await app.inject("/both");
  await app.close();

  expect(JSON.parse(String(route.body))).toEqual({ both: "sync later" });
  expect(await data(built, "{ both }")).toEqual({ both: "sync later" });
});

it("[DEP-02] resolves what a dependency depends on before it, and hands it in", async () => {
  const log: string[] = [];
  const inner = async (): Promise<number> => {
    await sleep(1);
    log.push("inner");
    return 6;
  };
  const outer = provide({ c: Depend(inner) })(({ c, ctx }) => {
    log.push("outer");
    return c + (ctx.kind === "http" ? 1 : 0);
  });
  const built = schema({ query: { n: field(t.int, { params: { n: Depend(outer) } })(({ n }) => n) } });

  expect(await data(built, "{ n }")).toEqual({ n: 7 });
  expect(log).toEqual(["inner", "outer"]);
});

describe("a generator", () => {
  const log: string[] = [];
  const traced = (name: string) =>
    async function* (): AsyncGenerator<number, void, void> {
      log.push(`open ${name}`);
      try {
        yield 7;
      } finally {
        log.push(`close ${name}`);
      }
      log.push(`bare ${name}`);
    };
  const a = traced("a");
  const b = provide({ a: Depend(a) })(async function* ({ a }): AsyncGenerator<number, void, void> {
    yield* traced("b")();
    log.push(`bare ${a}`);
  });
  const built = schema({
    query: {
      seven: field(t.int, { params: { a: Depend(a) } })(({ a }) => a),
      nested: field(t.int, { params: { b: Depend(b) } })(({ b }) => b),
      fails: field(t.nullable(t.int), { params: { a: Depend(a) } })(() => {
        throw new Error("no");
      }),
    },
  });

  it("[DEP-03] [DEP-04] gives what it yields, and is closed once after the answer", async () => {
    log.length = 0;

    expect(await data(built, "{ seven x: seven nested }")).toEqual({ seven: 7, x: 7, nested: 7 });

    expect(log).toEqual(["open a", "open b", "close b", "close a"]);
  });

  it("[DEP-04] is closed after each answer of a route too", async () => {
    log.length = 0;
    const app = new PorticoApp({ logger: false });
    app.get("/", { params: { a: Depend(a) } }, ({ a }) => ({ a }));

    await app.inject("/");
    await app.inject("/");
    await app.close();

    expect(log).toEqual(["open a", "close a", "open a", "close a"]);
  });

  it("[DEP-05] [DEP-06] is closed at its yield: finally runs, also when the resolver throws, and bare statements never", async () => {
    log.length = 0;

    expect((await ask(built, "{ fails }")).errors).toHaveLength(1);

    expect(log).toEqual(["open a", "close a"]);
  });

  it("takes the data away when it cannot be finished", async () => {
    const unitOfWork = async function* (): AsyncGenerator<number, void, void> {
      try {
        yield 1;
      } finally {
        // oxlint-disable-next-line no-unsafe-finally -- so a commit fails
        throw new Error("the commit failed");
      }
    };
    const broken = schema({ query: { n: field(t.int, { params: { n: Depend(unitOfWork) } })(({ n }) => n) } });

    const result = await ask(broken, "{ n }");

    expect(result.data).toBeNull();
    expect(result.errors?.[0]).toMatchObject({
      message: "The operation could not be completed",
      originalError: { message: "the commit failed" },
    });
  });
});

describe("the same callable", () => {
  const make = vi.fn<() => object>(() => ({}));
  const shelf = (): object => make();
  const viaProvider = provide({ shelf: Depend(shelf) })(({ shelf }) => shelf);
  const seen: object[] = [];
  const Book: ObjectType<object> = object("Book", {
    n: field(t.int, { params: { shelf: Depend(shelf) } })(({ shelf }) => seen.push(shelf)),
  });
  const built = schema({
    query: {
      book: field(Book, { params: { a: Depend(shelf), b: Depend(shelf) } })(({ a, b }) => {
        seen.push(a, b);
        return {};
      }),
      nested: field(t.int, { params: { p: Depend(viaProvider) } })(({ p }) => seen.push(p)),
    },
  });

  it("[DEP-07] is resolved once within an operation", async () => {
    make.mockClear();
    seen.length = 0;

    await data(built, "{ book { n } other: book { n } nested }");

    expect(make).toHaveBeenCalledOnce();
    expect(seen).toHaveLength(7);
    expect(new Set(seen).size).toBe(1);
  });

  it("[DEP-08] is resolved anew for the next request", async () => {
    make.mockClear();
    seen.length = 0;

    await data(built, "{ nested }");
    await data(built, "{ nested }");

    expect(make).toHaveBeenCalledTimes(2);
    expect(seen[0]).not.toBe(seen[1]);
  });

  it("[DEP-09] is resolved once per parameter on a route", async () => {
    make.mockClear();
    const app = new PorticoApp({ logger: false });
    app.get("/", { params: { a: Depend(shelf), b: Depend(shelf) } }, ({ a, b }) => ({ isSame: a === b }));

    const answer = await app.inject("/");
    await app.close();

    expect(JSON.parse(String(answer.body))).toEqual({ isSame: false });
    expect(make).toHaveBeenCalledTimes(2);
  });

  it("is resolved once also when it throws, or is asked for while it opens", async () => {
    const opening = vi.fn<() => Promise<number>>(async () => sleep(2, 5));
    const throwing = vi.fn<() => number>(() => {
      throw new Error("down");
    });
    const later = (): Promise<number> => opening();
    const fails = (): number => throwing();
    const many = schema({
      query: {
        n: field(t.int, { params: { n: Depend(later) } })(({ n }) => n),
        bad: field(t.nullable(t.int), { params: { n: Depend(fails) } })(({ n }) => n),
      },
    });

    const result = await ask(many, "{ a: n b: n c: bad d: bad }");

    expect(result.data).toEqual({ a: 5, b: 5, c: null, d: null });
    expect(result.errors?.map(({ message }) => message)).toEqual(["down", "down"]);
    expect(opening).toHaveBeenCalledOnce();
    expect(throwing).toHaveBeenCalledOnce();
  });
});

describe("when the answer is decided early", () => {
  it("[DEP-10] waits for what siblings are still opening, and leaves none open", async () => {
    const log: string[] = [];
    const slow = async function* (): AsyncGenerator<number, void, void> {
      await sleep(20);
      log.push("open");
      try {
        yield 1;
      } finally {
        log.push("close");
      }
    };
    const built = schema({
      query: {
        fails: field(t.int)(async () => {
          throw new Error("fast");
        }),
        slow: field(t.int, { params: { n: Depend(slow) } })(({ n }) => n),
      },
    });

    const result = await ask(built, "{ slow fails }");

    expect(result.data).toBeNull();
    expect(log).toEqual(["open", "close"]);
  });

  it("[DEP-11] opens nothing more once it has begun to close", async () => {
    const open = vi.fn<() => number>(() => 1);
    const late = (): number => open();
    let asked: Promise<unknown> = Promise.resolve();
    const Row: ObjectType<object> = object("Row", {
      late: field(t.int, { params: { n: Depend(late) } })(({ n }) => n),
    });
    const built = schema({ query: { row: field(Row)(() => ({})) } });
    const resolve = (
      built.getType("Row") as never as { getFields(): Record<string, { resolve: (...args: unknown[]) => unknown }> }
    ).getFields()["late"]?.resolve;
    const operation = openOperation(httpContext(), { isAlone: true });

    await operation.close("success");
    asked = (async () => resolve?.({}, {}, operation.contextValue, {}))();

    await expect(asked).rejects.toThrow("late was requested after its request had ended");
    expect(open).not.toHaveBeenCalled();
  });

  it("[DEP-11] refuses a provider whose own dependency was still opening", async () => {
    const open = vi.fn<() => number>(() => 1);
    const slow = async (): Promise<number> => sleep(10, 1);
    const outer = provide({ slow: Depend(slow) })(() => open());
    const built = schema({
      query: {
        fails: field(t.int)(async () => {
          throw new Error("fast");
        }),
        outer: field(t.int, { params: { outer: Depend(outer) } })(({ outer }) => outer),
      },
    });
    const operation = openOperation(httpContext(), { isAlone: true });
    const { fails, outer: second } = queryFields(built);

    const running = second?.resolve(undefined, {}, operation.contextValue, {}) as Promise<unknown>;
    await expect(fails?.resolve(undefined, {}, operation.contextValue, {})).rejects.toThrow("fast");
    const closed = operation.close("failure");

    await expect(running).rejects.toThrow("was requested after its request had ended");
    expect(await closed).toEqual([]);
    expect(open).not.toHaveBeenCalled();
  });
});

describe("[DEP-14] ctx.outcome", () => {
  const outcomes: string[] = [];
  const unitOfWork = provide(async function* ({ ctx }) {
    try {
      yield 1;
    } finally {
      outcomes.push(ctx.outcome);
    }
  });
  interface Row {
    readonly id: string;
  }
  const Book: ObjectType<Row> = object("Book", {
    id: t.id,
    secret: field(t.nullable(t.string), { auth: true })(() => ""),
  });
  const built = schema({
    query: { a: field(t.int)(() => 1) },
    mutation: {
      save: mutation(t.nullable(Book), { params: { trx: Depend(unitOfWork), fails: t.boolean(false) } })(
        ({ fails }) => {
          if (fails) throw new Error("no");
          return { id: "1" };
        },
      ),
    },
  });

  it("[DEP-14] tells in finally how the operation went", async () => {
    outcomes.length = 0;

    await ask(built, "mutation { save { id } }");
    await ask(built, "mutation { save(fails: true) { id } }");

    expect(outcomes).toEqual(["success", "failure"]);
  });

  it("is a success when what was done is told to the client, though a field below was refused", async () => {
    outcomes.length = 0;

    const result = await ask(built, "mutation { save { id secret } }");

    expect(result.data).toEqual({ save: { id: "1", secret: null } });
    expect(result.errors).toHaveLength(1);
    expect(outcomes).toEqual(["success"]);
  });

  it("is its own for each of several operations over one connection", async () => {
    outcomes.length = 0;
    const ctx = httpContext();
    const document = parse("mutation ($fails: Boolean!) { save(fails: $fails) { id } }");

    for (const fails of [true, false]) await runOperation(ctx, { schema: built, document, variables: { fails } });

    expect(outcomes).toEqual(["failure", "success"]);
    expect(ctx.outcome).toBe("pending");
  });
});

it("gives each of several operations over one connection values and loaders of its own, and one connection", async () => {
  const make = vi.fn<() => object>(() => ({}));
  const value = (): object => make();
  const built = schema({
    query: {
      n: field(t.int, { params: { v: Depend(value) } })(({ ctx }) => {
        ctx.state.set("n", 1);
        ctx.cache({ maxAge: 3 });
        return 1;
      }),
    },
  });
  const ctx = httpContext();
  const document = parse("{ n }");

  await runOperation(ctx, { schema: built, document });
  await runOperation(ctx, { schema: built, document });

  expect(make).toHaveBeenCalledTimes(2);
  expect(ctx.state.get("n")).toBe(1);
  expect(ctx.outgoing.headers).toBeDefined();
});

it("calls what a test has put in the place of a dependency", async () => {
  const shelf = (): string => "the real one";
  const built = schema({ query: { a: field(t.string, { params: { shelf: Depend(shelf) } })(({ shelf }) => shelf) } });
  const ctx = httpContext();
  (ctx.services.overrides as Map<unknown, unknown>).set(shelf, () => "a fake");

  expect(await data(built, "{ a }", { ctx })).toEqual({ a: "a fake" });
});
