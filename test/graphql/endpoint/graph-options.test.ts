import { buildSchema, type GraphQLObjectType } from "graphql";
import { ConfigurationError, type Gate, HttpException, type MiddlewareFunction, PorticoApp, rateLimit } from "portico";
import { Graph, type GraphOptions, Transport, Uploads } from "portico/graphql";
import { afterEach, describe, expect, it, vi } from "vitest";
import { userNamed } from "../ask.ts";
import { CONTENT_TYPE, file, form, json, map } from "../uploads/multipart-form.ts";
import { fixtureSchema } from "./fixture.ts";
import { bodyOf, codesOf, open, openApp, openSchema, verdictOf } from "./open.ts";

const hello = { query: "{ hello }" };
const twoFiles = {
  headers: { "content-type": CONTENT_TYPE },
  body: form([
    json("operations", { query: "mutation ($fs: [Upload]) { up(fs: $fs) }", variables: { fs: [null, null] } }),
    map({ 0: ["variables.fs.0"], 1: ["variables.fs.1"] }),
    file("0"),
    file("1"),
  ]),
};

/** Lets those in who bring the token. */
const gate: Gate<true> = {
  required: true,
  scopes: ["jwt"],
  check(ctx) {
    if (ctx.request.headers["authorization"] !== "Bearer token")
      throw new HttpException(401, "Sign in first", {
        code: "UNAUTHENTICATED",
        headers: { "www-authenticate": "Bearer" },
      });
    ctx.identity = { user: userNamed("ada"), auth: "jwt" };
  },
};
const TOKEN = { authorization: "Bearer token" };

afterEach(() => void vi.useRealTimers());

it("pauses for a slow client before it disconnects it: a pauseAbove over maxBuffered is rejected, and the default fits", () => {
  const graph = (subscriptions: NonNullable<GraphOptions["subscriptions"]>) => () =>
    new Graph(fixtureSchema(), { subscriptions });

  expect(graph({ pauseAbove: "5mb" })).toThrow(
    "Graph.subscriptions.pauseAbove must be at most maxBuffered (4194304 bytes), or slow clients would be disconnected instead of paused, received 5242880",
  );
  expect(graph({ maxBuffered: "64kb" })).not.toThrow();
});

it("[GRA-01] transport applies to the endpoint", async () => {
  const { client } = await open({ transport: new Transport({ batch: 1 }) });

  const answers = [
    await client.post("/graphql", { body: [hello] }),
    await client.post("/graphql", { body: [hello, hello] }),
  ];

  expect(answers.map(({ status }) => status)).toEqual([200, 400]);
});

it("[GRA-02] uploads applies to the endpoint", async () => {
  const one = await open({ uploads: new Uploads({ enabled: true, maxFiles: 1 }) });
  const two = await open({ uploads: new Uploads({ enabled: true, maxFiles: 2 }) });

  const answers = [await one.client.post("/graphql", twoFiles), await two.client.post("/graphql", twoFiles)];

  expect(answers.map(({ status }) => status)).toEqual([413, 200]);
});

describe("auth", () => {
  it("[GRA-04] is the gate of the route: it decides before any operation runs, and a body is read", async () => {
    const { client, ran } = await open({ auth: gate });

    const refused = [
      await client.post("/graphql", { body: hello }),
      await client.get("/graphql", { query: hello }),
      await client.post("/graphql", { headers: { "content-type": "application/json" }, body: "{oops" }),
    ];
    const let_in = await client.post("/graphql", { headers: TOKEN, body: { query: "{ hello secret }" } });

    expect(refused.map(verdictOf)).toEqual([
      [401, "UNAUTHENTICATED"],
      [401, "UNAUTHENTICATED"],
      [401, "UNAUTHENTICATED"],
    ]);
    expect([bodyOf(let_in).data, ran]).toEqual([{ hello: "world", secret: "secret" }, { hello: 1 }]);
  });
});

describe("middleware", () => {
  it("[GRA-05] runs in its order on the endpoint, and on no other route", async () => {
    const seen: string[] = [];
    const recorder =
      (name: string): MiddlewareFunction =>
      async (ctx, next) => {
        seen.push(`${name} ${new URL(ctx.request.url).pathname}`);
        await next();
      };
    const app = new PorticoApp({ logger: false }).get("/other", () => "other");
    new Graph(fixtureSchema(), { middleware: [recorder("outer"), recorder("inner")] }).mount(app);
    const client = await openApp(app);

    await client.post("/graphql", { body: hello });
    await client.get("/graphql", { query: hello });
    await client.get("/other");

    expect(seen).toEqual(["outer /graphql", "inner /graphql", "outer /graphql", "inner /graphql"]);
  });

  it("[GRA-06] rateLimit rejects requests over the limit before they run, and accepts the client a minute later", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const { client, ran } = await open({ middleware: [rateLimit({ perMinute: 2 })] });
    const ask = () => client.post("/graphql", { body: hello });

    const statuses = [(await ask()).status, (await ask()).status, (await ask()).status];
    vi.setSystemTime(Date.now() + 59_000);
    statuses.push((await ask()).status);
    vi.setSystemTime(Date.now() + 1_001);
    statuses.push((await ask()).status);

    expect(statuses).toEqual([200, 200, 429, 429, 200]);
    expect(ran).toEqual({ hello: 3 });
  });
});

describe("a refusal of the route", () => {
  it("[GRA-07] has its status and headers, and a body with errors and no data", async () => {
    const gated = await open({ auth: gate });
    const limited = await open({ middleware: [rateLimit({ perMinute: 1 })] });
    await limited.client.post("/graphql", { body: hello });

    const unauthenticated = await gated.client.post("/graphql", { body: hello });
    const tooMany = await limited.client.post("/graphql", { body: hello });

    expect([verdictOf(unauthenticated), unauthenticated.headers["www-authenticate"]]).toEqual([
      [401, "UNAUTHENTICATED"],
      "Bearer",
    ]);
    expect([verdictOf(tooMany), tooMany.headers["retry-after"]]).toEqual([[429, "RATE_LIMITED"], expect.any(String)]);
    for (const answer of [unauthenticated, tooMany]) {
      expect(Object.keys(bodyOf(answer))).toEqual(["errors"]);
      expect(answer.headers["content-type"]).toBe("application/json; charset=utf-8");
    }
  });

  it("[GRA-07] is passed to an exception handler if the application has one", async () => {
    class Closed extends HttpException {
      constructor() {
        super(403, "closed");
      }
    }
    const app = new PorticoApp({ logger: false });
    app.addExceptionHandler(Closed, (_request, response) => response.status(451).json({ shop: "closed" }));
    const closed: MiddlewareFunction = () => {
      throw new Closed();
    };
    new Graph(fixtureSchema(), { middleware: [closed] }).mount(app);
    const client = await openApp(app);

    const answer = await client.post("/graphql", { body: hello });

    expect([answer.status, answer.json()]).toEqual([451, { shop: "closed" }]);
  });
});

it("[GRA-08] accepts a plain object instead of a Transport, an Uploads or a Limits", async () => {
  const { client } = await open({
    transport: { batch: 1 },
    uploads: { enabled: true, maxFiles: 1 },
    limits: { aliases: 0 },
  });

  const answers = [
    await client.post("/graphql", { body: [hello, hello] }),
    await client.post("/graphql", twoFiles),
    await client.post("/graphql", { body: { query: "{ x: hello }" } }),
  ];

  expect(answers.map(verdictOf)).toEqual([
    [400, "BATCH_REFUSED"],
    [413, "PAYLOAD_TOO_LARGE"],
    [400, "ALIAS_LIMIT_EXCEEDED"],
  ]);
});

it.each<[string, object]>([
  ["Transport.batch", { transport: { batch: -1 } }],
  ["Uploads.maxFiles", { uploads: { maxFiles: 0 } }],
  ["Limits.depth", { limits: { depth: "deep" } }],
  ['Transport: unknown option "getQuerys"', { transport: { getQuerys: true } }],
  ["Graph.path", { path: "graphql" }],
  ["Graph.timeoutSeconds", { timeoutSeconds: -1 }],
  ["Graph.auth", { auth: {} }],
  ["Graph.documents", { documents: { trusted: { a: 1 } } }],
  ['Graph: unknown option "introspecton"', { introspecton: true }],
])("rejects a wrong value or name when it is built: %s", (name, options) => {
  expect(() => new Graph(fixtureSchema(), options as GraphOptions)).toThrow(ConfigurationError);
  expect(() => new Graph(fixtureSchema(), options as GraphOptions)).toThrow(name);
});

it("[GRA-09] accepts a schema from SDL, with limits, gate and hooks", async () => {
  const sdl = buildSchema('type Query { hello(name: String = "world"): String, dear: Int }');
  const fields = (sdl.getQueryType() as GraphQLObjectType).getFields();
  Object.assign(fields["hello"] as object, { resolve: (_: unknown, { name }: { name: string }) => `hello ${name}` });
  Object.assign(fields["dear"] as object, { resolve: () => 1, extensions: { cost: 100 } });
  const names: unknown[] = [];
  const { client, graph } = await openSchema(sdl, { limits: { cost: 50 }, auth: gate });
  graph.onOperation((result, { operationName }) => void names.push([operationName, result.ok]));

  const answer = await client.post("/graphql", {
    headers: TOKEN,
    body: { query: 'query Greet { hello(name: "Ada") }' },
  });
  const dear = await client.post("/graphql", { headers: TOKEN, body: { query: "query Dear { dear }" } });
  const nobody = await client.post("/graphql", { body: hello });

  expect(bodyOf(answer)).toMatchObject({ data: { hello: "hello Ada" }, extensions: { cost: { cost: 1 } } });
  expect([codesOf(dear), nobody.status]).toEqual([["COST_LIMIT_EXCEEDED"], 401]);
  expect(names).toEqual([
    ["Greet", true],
    ["Dear", false],
  ]);
});
