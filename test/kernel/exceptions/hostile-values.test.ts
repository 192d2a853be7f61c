import { Depend, PorticoApp, rule } from "portico";
import { SimpleUser } from "portico/auth";
import { field, Graph, loader, mutation, schema, subscription, t } from "portico/graphql";
import { openDatabase } from "portico/sql";
import { type LiveClient, type LogCatcher, liveClient, logCatcher } from "portico/testing";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { HOSTILE } from "./hostile-values.ts";

const escaped: unknown[] = [];
const note = (reason: unknown): void => {
  // Not the value, which a failing test could not print.
  escaped.push(typeof reason);
};
beforeEach(() => {
  escaped.length = 0;
  process.on("unhandledRejection", note).on("uncaughtExceptionMonitor", note).on("warning", note);
});
afterEach(() => {
  process.off("unhandledRejection", note).off("uncaughtExceptionMonitor", note).off("warning", note);
});

class Trigger extends Error {}

/** A value of which every property throws `value`, as it is serialized. */
const unprintable = (fail: () => never): object => ({ toJSON: fail });

/** An application that throws a value at every place where code of an application runs. */
function hostileApp(log: LogCatcher, make: () => unknown): PorticoApp {
  const fail = (): never => {
    throw make();
  };
  const failLater = async (): Promise<never> => {
    await Promise.resolve();
    return fail();
  };
  const app = new PorticoApp({ logger: log });
  const database = openDatabase("sqlite::memory:");
  app.onClose(() => database.destroy());
  const failing = rule<object>({ name: "failing", allows: fail });
  const failingLater = rule<object>({ name: "failing.later", allows: failLater });
  const opened = (): never => fail();
  function* closed(): Generator<string, void, void> {
    try {
      yield "value";
    } finally {
      fail();
    }
  }
  app
    .get("/sync", fail)
    .get("/async", failLater)
    .get("/gate", { auth: () => fail() }, () => "in")
    .get("/gate/later", { auth: failLater }, () => "in")
    .get("/rule", async ({ ctx }) => ctx.authorize(failing, {}))
    .get("/rule/later", async ({ ctx }) => ctx.authorize(failingLater, {}))
    .get("/dependency", { params: { value: Depend(opened) } }, ({ value }) => value)
    .get("/teardown", { params: { value: Depend(closed) } }, ({ value }) => value)
    .get("/serializer", () => unprintable(fail))
    .get("/transaction", async () => {
      const trx = await database.begin();
      try {
        return await failLater();
      } finally {
        await trx.end("failure");
      }
    })
    .get("/commit", async () => {
      const trx = await database.begin();
      trx.afterCommit(fail);
      await trx.end("success");
      return "done";
    })
    .get("/handler", () => {
      throw new Trigger();
    })
    .get("/middleware", { middleware: [fail] }, () => "in")
    .get("/stream", ({ response }) =>
      response.stream(
        (async function* () {
          yield "a";
          fail();
        })(),
      ),
    )
    .post("/upload", async ({ request }) => {
      await request.form();
      return fail();
    })
    .socket("/socket/start", fail)
    .socket("/socket/message", async ({ socket }) => {
      for await (const message of socket) if (message !== "") fail();
    })
    .socket("/socket/close", async ({ socket }) => {
      for await (const message of socket) socket.send(message);
      fail();
    });
  app.addExceptionHandler(Trigger, fail);

  const values = loader((_keys: readonly number[]): readonly string[] => fail());
  const Secret = t.scalar<string>("Secret", { serialize: fail, parse: String });
  const number = t.nullable(t.int);
  new Graph(
    schema({
      query: {
        sync: field(number)(fail),
        later: field(number)(failLater),
        loaded: field(t.nullable(t.string))(({ ctx }) => values.load(ctx, 1)),
        scalar: field(t.nullable(Secret))(() => "a"),
        gated: field(number, { auth: () => fail() })(() => 1),
        ruled: field(number)(async ({ ctx }) => ((await ctx.can(failingLater, {})) ? 1 : 2)),
        item: field(t.nullable(t.list(number)))(() => [1, failLater() as unknown as number]),
        iterated: field(t.nullable(t.list(number)))(function* () {
          yield 1;
          fail();
        } as unknown as () => number[]),
        handled: field(number)(() => {
          throw new Trigger();
        }),
        opened: field(number, { params: { value: Depend(opened) } })(() => 1),
      },
      mutation: { change: mutation(number)(failLater) },
      subscription: {
        start: subscription(t.int)(async function* () {
          fail();
          yield 1;
        }),
        next: subscription(t.int)(async function* () {
          yield 1;
          fail();
        }),
        leave: subscription(t.int)(async function* () {
          try {
            yield 1;
            yield 2;
          } finally {
            fail();
          }
        }),
        event: subscription(Secret)(async function* () {
          yield "a";
        }),
      },
    }),
  ).mount(app);
  return app;
}

const PROBLEMS = [
  ["a handler", "/sync"],
  ["an async handler", "/async"],
  ["a dependency", "/dependency"],
  ["the end of a dependency", "/teardown"],
  ["a serializer", "/serializer"],
  ["a transaction", "/transaction"],
  ["an exception handler", "/handler"],
  ["a middleware", "/middleware"],
] as const;

const FIELDS = ["sync", "later", "loaded", "scalar", "item", "iterated", "handled", "opened"] as const;

describe.each(HOSTILE)("%s that is thrown", (_name, make) => {
  async function start(): Promise<{ client: LiveClient; errors: () => number; count: () => number }> {
    const log = logCatcher();
    const client = await liveClient(hostileApp(log, make));
    onTestFinished(() => client.close());
    const count = (): number => log.lines.filter(({ level }) => level === "error").length;
    const errors = (): number => {
      const found = count();
      log.clear();
      return found;
    };
    return { client, errors, count };
  }

  it("is a 500 with a correlation id and one line in the log, wherever a route can throw it", async () => {
    const { client, errors } = await start();

    for (const [place, path] of PROBLEMS) {
      const response = await client.get(path);
      expect([place, response.status, response.json()]).toMatchObject([
        place,
        500,
        { correlation_id: expect.any(String) },
      ]);
      expect([place, errors()]).toEqual([place, 1]);
    }
    const form = new FormData();
    form.set("file", new Blob(["text"]), "a.txt");
    expect([(await client.post("/upload", { body: form })).status, errors()]).toEqual([500, 1]);
    expect((await client.get("/commit")).status).toBe(200);
    expect(errors()).toBe(1);
    await client.get("/stream").catch(() => {});
    expect(errors()).toBe(1);
    expect(escaped).toEqual([]);
  });

  it("opens no gate, and is logged once", async () => {
    const { client, errors } = await start();
    const ann = client.as(new SimpleUser("ann"));

    for (const path of ["/gate", "/gate/later", "/rule", "/rule/later"]) {
      const { status } = await ann.get(path);
      expect([path, status >= 400, errors()]).toEqual([path, true, 1]);
    }
    const { errors: refusals = [] } = await ann.graphql("{ gated ruled }");
    expect(refusals).toHaveLength(2);
    expect(escaped).toEqual([]);
  });

  it("is the masked error of its field, with one line in the log", async () => {
    const { client, errors } = await start();

    for (const name of FIELDS) {
      const result = await client.graphql(`{ ${name} }`);
      expect([name, result.data]).toMatchObject([name, { [name]: name === "item" ? [1, null] : null }]);
      expect([name, result.errors?.map(({ message }) => message)]).toEqual([name, ["Unexpected error"]]);
      expect([name, errors()]).toEqual([name, 1]);
    }
    expect((await client.graphql("mutation { change }")).errors).toHaveLength(1);
    expect(escaped).toEqual([]);
  });

  it("ends a subscription with an error, and nothing else", async () => {
    const { client, errors } = await start();
    const read = async (name: string): Promise<number> => {
      let failures = 0;
      for await (const event of client.subscribe(`subscription { ${name} }`)) failures += event.errors?.length ?? 0;
      return failures;
    };

    for (const name of ["start", "next", "event"]) expect([name, await read(name), errors()]).toEqual([name, 1, 1]);
    for await (const event of client.subscribe("subscription { leave }")) {
      expect(event.data).toEqual({ leave: 1 });
      break;
    }
    expect((await client.get("/nothing")).status).toBe(404);
    expect(escaped).toEqual([]);
  });

  it("closes the socket whose handler threw it with 1011", async () => {
    const { client, errors, count } = await start();

    const first = await client.socket("/socket/start");
    expect((await first.closed).code).toBe(1011);
    const second = await client.socket("/socket/message");
    second.send("hello");
    expect((await second.closed).code).toBe(1011);
    await expect.poll(() => count(), { timeout: 5_000 }).toBe(2);
    errors();
    const third = await client.socket("/socket/close");
    third.close();
    await third.closed;
    await expect.poll(() => count(), { timeout: 5_000 }).toBe(1);
    expect(escaped).toEqual([]);
  });
});
