import { HttpException, PorticoApp, topic } from "portico";
import {
  field,
  Graph,
  GraphQLDenied,
  loader,
  mutation,
  type ObjectType,
  object,
  schema,
  subscription,
  t,
} from "portico/graphql";
import { type LogCatcher, liveClient, logCatcher, testClient } from "portico/testing";
import { beforeEach, describe, expect, it } from "vitest";

class OutOfStock extends Error {}
class SoldOut extends OutOfStock {}
class Thrown extends Error {}
class Text extends Error {}
class Fine extends Error {}
class Broken extends Error {}
class Empty extends Error {}
class Late extends Error {}

const errors = { OutOfStock, SoldOut, Thrown, Text, Fine, Broken, Empty, Late, TypeError };

describe.each(["portico", "graphql-js"] as const)("exception handlers for resolvers, by %s", (executor) => {
  let app: PorticoApp;
  let log: LogCatcher;
  let calls: string[];
  beforeEach(() => {
    log = logCatcher();
    calls = [];
    app = new PorticoApp({ logger: log });
    app.addExceptionHandler(OutOfStock, (request, response, exc) => {
      calls.push(`${request.method} ${exc.message}`);
      response.cookie("seen", "1").header("x-stock", "0");
      return response.status(409).json({ detail: exc.message, code: "out_of_stock", left: 0, title: "Conflict" });
    });
    app.addExceptionHandler(Thrown, () => {
      throw new HttpException(402, "pay first", { code: "PAY" });
    });
    app.addExceptionHandler(Text, (_request, response) => response.status(410).text("it is gone"));
    app.addExceptionHandler(Fine, () => ({ instead: true }));
    app.addExceptionHandler(Broken, () => {
      throw new Error("the handler has a secret");
    });
    app.addExceptionHandler(Empty, (_request, response) => response.status(404).empty());
    app.addExceptionHandler(Late, async (_request, response) => {
      await new Promise(setImmediate);
      return response.status(503).json({ message: "later", code: 7 });
    });
    const fail = (kind: string): never => {
      if (kind === "GraphQLDenied") throw new GraphQLDenied("FORBIDDEN");
      throw new errors[kind as keyof typeof errors]("no Emma left");
    };
    const byKind = loader<string, number>(async (kinds) => fail(kinds[0] as string));
    const ticks = topic<string>("exceptions.ticks");
    const Tick: ObjectType<{ readonly kind: string }> = object("Tick", {
      fails: field(t.nullable(t.int))(({ parent }) => fail(parent.kind)),
    });
    const query = {
      fine: field(t.int)(() => 1),
      fails: field(t.nullable(t.int), { params: { kind: t.string } })(({ kind }) => fail(kind)),
      failsLater: field(t.nullable(t.int), { params: { kind: t.string } })(async ({ kind }) => fail(kind)),
      loaded: field(t.nullable(t.int), { params: { kind: t.string } })(({ kind, ctx }) => byKind.load(ctx, kind)),
      signedIn: field(t.nullable(t.int), { auth: true })(() => 1),
    };
    const Mutation = { fail: mutation(t.nullable(t.int), { params: { kind: t.string } })(({ kind }) => fail(kind)) };
    const Subscription = {
      ticks: subscription(Tick)(async function* ({ ctx }) {
        for await (const kind of ctx.pubsub.subscribe(ticks)) yield { kind };
      }),
    };
    app.post("/tick/:kind", async ({ ctx, path }) => ctx.pubsub.publish(ticks, path.kind));
    app.get("/route/:kind", ({ path }) => fail(path.kind));
    new Graph(schema({ query, mutation: Mutation, subscription: Subscription }), { executor }).mount(app);
  });

  const ask = async (query: string): Promise<{ readonly data: any; readonly errors: any[]; readonly headers: any }> => {
    const response = await testClient(app).post("/graphql", { body: { query } });
    return { ...(response.json() as { data: any; errors: any[] }), headers: response.headers };
  };

  it.each([
    ["OutOfStock", "no Emma left", { code: "OUT_OF_STOCK", left: 0 }],
    ["SoldOut", "no Emma left", { code: "OUT_OF_STOCK", left: 0 }],
    ["Thrown", "pay first", { code: "PAY" }],
    ["Text", "it is gone", { code: "GONE" }],
    ["Empty", "Not Found", { code: "NOT_FOUND" }],
    ["Late", "later", { code: "SERVICE_UNAVAILABLE" }],
    ["Fine", "Unexpected error", { code: "INTERNAL_SERVER_ERROR" }],
    ["Broken", "Unexpected error", { code: "INTERNAL_SERVER_ERROR" }],
    ["TypeError", "Unexpected error", { code: "INTERNAL_SERVER_ERROR" }],
    ["GraphQLDenied", "Permission denied", { code: "FORBIDDEN" }],
  ])("describe %s", async (kind, message, extensions) => {
    for (const name of ["fails", "failsLater"]) {
      const result = await ask(`{ fine  nested: ${name}(kind: "${kind}") }`);

      expect(result.data).toEqual({ fine: 1, nested: null });
      expect(result.errors).toEqual([
        {
          message,
          locations: [{ line: 1, column: 9 }],
          path: ["nested"],
          extensions: { ...extensions, correlationId: expect.any(String) },
        },
      ]);
    }
  });

  it("run once for an error of several fields, and leave the headers of the response alone", async () => {
    const result = await ask('{ a: loaded(kind: "OutOfStock") b: loaded(kind: "OutOfStock") }');

    expect(result.errors.map(({ path, extensions }) => [path, extensions.code])).toEqual([
      [["a"], "OUT_OF_STOCK"],
      [["b"], "OUT_OF_STOCK"],
    ]);
    expect(calls).toEqual(["POST no Emma left"]);
    expect([result.headers["x-stock"], result.headers["set-cookie"]]).toEqual([undefined, undefined]);
  });

  it("log the error that a handler throws, and not the one that it handled", async () => {
    await ask('mutation { fail(kind: "Broken") }');
    await ask('mutation { fail(kind: "OutOfStock") }');

    expect(log.text).toContain("the handler has a secret");
    const unexpected = log.lines.filter(({ level }) => level === "error");
    expect(unexpected).toHaveLength(1);
  });

  it("are not asked about gates, documents and variables, not even one for every error", async () => {
    app.addExceptionHandler(Error, () => {
      throw new HttpException(418, "a teapot");
    });

    const denied = await ask("{ signedIn }");
    const invalid = await ask("{ nothing }");
    const thrown = await ask('{ fails(kind: "TypeError") }');

    expect(denied.errors[0].extensions.code).toBe("UNAUTHENTICATED");
    expect(invalid.errors[0].extensions.code).toBe("GRAPHQL_VALIDATION_FAILED");
    expect(thrown.errors[0]).toMatchObject({ message: "a teapot" });
  });

  it("describe the errors of the events of a subscription as on a route", async () => {
    const client = await liveClient(app);
    try {
      expect((await client.get("/route/OutOfStock")).json()).toMatchObject({ detail: "no Emma left", left: 0 });
      const events = client.subscribe("subscription { ticks { fails } }");
      await events.ready();
      await client.post("/tick/SoldOut");
      const { value } = await events[Symbol.asyncIterator]().next();

      expect(value).toMatchObject({
        data: { ticks: { fails: null } },
        errors: [{ message: "no Emma left", extensions: { code: "OUT_OF_STOCK", left: 0 } }],
      });
    } finally {
      await client.close();
    }
  });
});
