import { type Origin, PorticoApp, Router } from "portico";
import { field, Graph, type GraphOptions, schema, type TransportOptions, t } from "portico/graphql";
import type { LiveClient, SocketRefused, TestRequest, TestResponse } from "portico/testing";
import { describe, expect, it } from "vitest";
import { CONTENT_TYPE, form, oneFile } from "../uploads/multipart-form.ts";
import { fixtureSchema } from "./fixture.ts";
import { bodyOf, bodyOfSize, codesOf, GRAPHQL_TYPE, JSON_BODY, open, openApp, openSchema, verdictOf } from "./open.ts";

const SHOP: Origin = "https://shop.example";
const EVIL = "https://evil.example";
const FORM = { "content-type": "application/x-www-form-urlencoded" };
const hello = { query: "{ hello }" };
const both = "query A { hello } query B { a { id } }";
const echo = "query ($i: Int) { echo(i: $i) }";
const typeOf = (answer: TestResponse): string | undefined => answer.headers["content-type"]?.split(";")[0];

describe("mounting", () => {
  it("[EPT-01] [EPT-04] puts the endpoint on an application, at /graphql", async () => {
    const app = new PorticoApp({ logger: false });
    new Graph(fixtureSchema()).mount(app);
    const client = await openApp(app);

    const answer = await client.post("/graphql", { body: hello });

    expect([answer.status, bodyOf(answer).data]).toEqual([200, { hello: "world" }]);
  });

  it("[EPT-02] puts it on a router, below its prefix", async () => {
    const router = new Router({ prefix: "/api" });
    new Graph(fixtureSchema()).mount(router);
    const client = await openApp(new PorticoApp({ logger: false }).mount("", router));

    const answers = [
      await client.post("/api/graphql", { body: hello }),
      await client.post("/graphql", { body: hello }),
    ];

    expect(answers.map(({ status }) => status)).toEqual([200, 404]);
  });

  it("[EPT-05] puts it at another path", async () => {
    const { client } = await open({ path: "/g" });

    const answers = [await client.post("/g", { body: hello }), await client.post("/graphql", { body: hello })];

    expect(answers.map(({ status }) => status)).toEqual([200, 404]);
  });

  it("[EPT-03] leaves the OpenAPI document as it was", async () => {
    const app = new PorticoApp({ logger: false, openapi: true }).get("/books", () => []);
    new Graph(fixtureSchema()).mount(app);
    const client = await openApp(app);

    const document = (await client.get("/openapi.json")).json() as { readonly paths: object };

    expect(Object.keys(document.paths)).toEqual(["/books"]);
  });

  it("serves one schema twice, each time with its own options", async () => {
    const app = new PorticoApp({ logger: false });
    const shared = fixtureSchema();
    new Graph(shared).mount(app);
    new Graph(shared, { path: "/strict", limits: { cost: 0 } }).mount(app);
    const client = await openApp(app);

    const answers = [await client.post("/graphql", { body: hello }), await client.post("/strict", { body: hello })];

    expect(answers.map(verdictOf)).toEqual([[200], [400, "COST_LIMIT_EXCEEDED"]]);
  });
});

describe("a POST", () => {
  it("[EPT-06] executes queries and mutations", async () => {
    const { client, ran } = await open();

    const answers = [
      await client.post("/graphql", { body: hello }),
      await client.post("/graphql", { body: { query: 'mutation { login(p: "right") }' } }),
    ];

    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(answers.map((answer) => bodyOf(answer).data)).toEqual([{ hello: "world" }, { login: true }]);
    expect(ran).toEqual({ hello: 1, login: 1 });
  });

  it("[EPT-07] of JSON has the document in query", async () => {
    const { client } = await open();

    const answer = await client.post("/graphql", { headers: JSON_BODY, body: '{"query":"{ hello }"}' });

    expect(bodyOf(answer).data).toEqual({ hello: "world" });
  });

  it("[EPT-08] of JSON may carry variables", async () => {
    const { client } = await open();

    const answer = await client.post("/graphql", { body: { query: echo, variables: { i: 2 } } });

    expect(JSON.parse(String(bodyOf(answer).data?.["echo"]))).toMatchObject({ i: 2 });
  });

  it("[EPT-09] of JSON may carry the name of the operation to run", async () => {
    const { client } = await open();

    const answers = [
      await client.post("/graphql", { body: { query: both, operationName: "B" } }),
      await client.post("/graphql", { body: { query: both, operationName: "A" } }),
      await client.post("/graphql", { body: { query: both } }),
      await client.post("/graphql", { body: { query: both, operationName: "C" } }),
    ];

    expect(answers.map((answer) => bodyOf(answer).data)).toEqual([
      { a: { id: "a" } },
      { hello: "world" },
      undefined,
      undefined,
    ]);
    expect(answers.map(verdictOf).slice(2)).toEqual([
      [400, "OPERATION_RESOLUTION_FAILURE"],
      [400, "OPERATION_RESOLUTION_FAILURE"],
    ]);
  });

  it("[EPT-10] of JSON may carry extensions, which are an object", async () => {
    const { client } = await open();

    const answers = [
      await client.post("/graphql", { body: { ...hello, extensions: { x: 1 } } }),
      await client.post("/graphql", { body: { ...hello, extensions: [] } }),
    ];

    expect(answers.map(({ status }) => status)).toEqual([200, 400]);
    expect(answers[0] && bodyOf(answers[0]).data).toEqual({ hello: "world" });
  });

  it("[EPT-11] of application/graphql is the document as a whole", async () => {
    const { client } = await open();

    const answer = await client.post("/graphql", {
      headers: { "content-type": "application/graphql" },
      body: "{ hello }",
    });

    expect([answer.status, bodyOf(answer).data]).toEqual([200, { hello: "world" }]);
  });

  it("[EPT-12] of a form has query and, as JSON, variables", async () => {
    const { client } = await open();
    const fields = new URLSearchParams({ query: echo, variables: '{"i":2}' });

    const answer = await client.post("/graphql", { headers: FORM, body: fields.toString() });

    expect(answer.status).toBe(200);
    expect(JSON.parse(String(bodyOf(answer).data?.["echo"]))).toMatchObject({ i: 2 });
  });

  it.each(["text/plain", "application/xml", "application/json5", "text/json", "multipart/mixed", undefined])(
    "[EPT-13] of the type %s is 415, and runs nothing",
    async (type) => {
      const { client, ran } = await open();

      const answer = await client.post("/graphql", {
        headers: type === undefined ? {} : { "content-type": type },
        body: JSON.stringify(hello),
      });

      expect([verdictOf(answer), ran]).toEqual([[415, "UNSUPPORTED_MEDIA_TYPE"], {}]);
    },
  );

  it("[EPT-32] whose variables do not coerce is 400, and runs nothing", async () => {
    const { client, ran } = await open();
    const query = "query ($i: Int!) { echo(i: $i) }";

    const answers = await Promise.all(
      [{ i: "x" }, {}, { i: null }, { i: 1.5 }, { i: 2 ** 40 }].map((variables) =>
        client.post("/graphql", { body: { query, variables } }),
      ),
    );

    expect(answers.map(verdictOf)).toEqual(answers.map(() => [400, "BAD_USER_INPUT"]));
    expect(ran).toEqual({});
  });

  it("[EPT-33] with unknown keys ignores them", async () => {
    const { client } = await open();

    const answer = await client.post("/graphql", { body: { ...hello, foo: 1, "": null } });

    expect([answer.status, bodyOf(answer).data]).toEqual([200, { hello: "world" }]);
  });
});

describe("a GET", () => {
  it("[EPT-14] [EPT-18] takes the document from query, without any option", async () => {
    const { client } = await open();

    const answer = await client.get("/graphql", { query: hello });

    expect([answer.status, bodyOf(answer).data]).toEqual([200, { hello: "world" }]);
  });

  it("[EPT-15] takes variables as JSON", async () => {
    const { client } = await open();

    const answers = [
      await client.get("/graphql", { query: { query: echo, variables: '{"i":2}' } }),
      await client.get("/graphql", { query: { query: echo, variables: "{i:2}" } }),
    ];

    expect(answers.map(({ status }) => status)).toEqual([200, 400]);
    expect(answers[0]?.text()).toContain('\\"i\\":2');
  });

  it("[EPT-16] takes operationName", async () => {
    const { client } = await open();

    const answer = await client.get("/graphql", { query: { query: both, operationName: "B" } });

    expect(bodyOf(answer).data).toEqual({ a: { id: "a" } });
  });

  it("[EPT-17] takes extensions as JSON", async () => {
    const { client } = await open();

    const answers = [
      await client.get("/graphql", { query: { ...hello, extensions: '{"x":1}' } }),
      await client.get("/graphql", { query: { ...hello, extensions: "1" } }),
    ];

    expect(answers.map(({ status }) => status)).toEqual([200, 400]);
  });

  const settings: readonly TransportOptions[] = [true, false].flatMap((getQueries) =>
    [true, false].flatMap((graphqlContentType) =>
      [true, false].flatMap((responseContentType) =>
        [0, 10].map((batch) => ({
          getQueries,
          graphqlContentType,
          responseContentType,
          batch,
          maxBody: "1kb" as const,
        })),
      ),
    ),
  );
  it.each(settings)(
    "[EPT-19] [EPT-31] of a mutation is 405 with Allow: POST under %o, and does not run",
    async (transport) => {
      const { client, ran } = await open({ transport });

      const answer = await client.get("/graphql", { query: { query: "mutation { login }" } });

      expect([answer.status, answer.headers["allow"], codesOf(answer)]).toEqual([405, "POST", ["METHOD_NOT_ALLOWED"]]);
      const subject = transport.getQueries ? "Sending a mutation with GET" : "GET";
      expect(bodyOf(answer).errors?.[0]?.message).toBe(`${subject} is not allowed here`);
      expect([bodyOf(answer).data, ran]).toEqual([undefined, {}]);
    },
  );

  it("runs the query of a document that holds a mutation too", async () => {
    const { client } = await open();
    const query = "query A { hello } mutation B { login }";

    const answers = [
      await client.get("/graphql", { query: { query, operationName: "A" } }),
      await client.get("/graphql", { query: { query, operationName: "B" } }),
    ];

    expect(answers.map(({ status }) => status)).toEqual([200, 405]);
  });

  it("executes and returns JSON when a browser requests a page", async () => {
    const { client } = await open();
    const accept = "text/html,application/xhtml+xml,application/xml;q=0.9";

    const answer = await client.get("/graphql", { headers: { accept }, query: hello });

    expect([answer.status, typeOf(answer), bodyOf(answer).data]).toEqual([200, "application/json", { hello: "world" }]);
  });
});

it.each(["PUT", "PATCH", "DELETE"])(
  "returns 405 to %s with the allowed methods, as a GraphQL response",
  async (method) => {
    const { client } = await open();

    const answer = await client.request(method, "/graphql", { body: hello });

    expect([verdictOf(answer), answer.headers["allow"]]).toEqual([[405, "METHOD_NOT_ALLOWED"], "GET, POST"]);
  },
);

describe("Accept", () => {
  const asked = async (accept: string | undefined): Promise<TestResponse> => {
    const { client } = await open();
    return client.post("/graphql", { headers: accept === undefined ? {} : { accept }, body: hello });
  };

  it.each(["application/json", "*/*", "application/*", "", undefined])(
    "[EPT-20] %s receives application/json",
    async (accept) => {
      const answer = await asked(accept);

      expect([answer.status, answer.headers["content-type"]]).toEqual([200, "application/json; charset=utf-8"]);
    },
  );

  it("[EPT-21] the GraphQL media type is used for the response", async () => {
    const answer = await asked(GRAPHQL_TYPE);

    expect([answer.status, answer.headers["content-type"]]).toEqual([200, `${GRAPHQL_TYPE}; charset=utf-8`]);
  });

  it.each([
    [`application/json;q=0.5, ${GRAPHQL_TYPE};q=0.9`, GRAPHQL_TYPE],
    [`application/json;q=0.9, ${GRAPHQL_TYPE};q=0.5`, "application/json"],
    [`${GRAPHQL_TYPE};q=0, */*;q=0.1`, "application/json"],
    [`application/json;q=0, */*;q=0.1`, GRAPHQL_TYPE],
    [`image/png, ${GRAPHQL_TYPE}; q=0.2; x=1`, GRAPHQL_TYPE],
  ])("[EPT-26] honours the q-values of %s", async (accept, type) => {
    expect(typeOf(await asked(accept))).toBe(type);
  });

  it.each(["image/png", "application/json;q=0", "text/plain, image/*", "text/html"])(
    "[EPT-27] %s is 406, and runs nothing",
    async (accept) => {
      const { client, ran } = await open();

      const answer = await client.post("/graphql", { headers: { accept }, body: hello });

      expect([verdictOf(answer), ran]).toEqual([[406, "NOT_ACCEPTABLE"], {}]);
    },
  );
});

describe("the status", () => {
  const upload = (type: string) => ({ headers: { "content-type": CONTENT_TYPE }, body: form(oneFile("x", { type })) });
  const post = (request: TestRequest) => ["POST", request] as const;
  const get = (request: TestRequest) => ["GET", request] as const;
  const options: GraphOptions = {
    introspection: false,
    limits: { cost: 3 },
    transport: { maxBody: "1kb" },
    uploads: { enabled: true, contentTypes: ["image/*"] },
  };

  it.each<[number, string, readonly [string, TestRequest]]>([
    [400, "a body that is not JSON", post({ headers: JSON_BODY, body: "{oops" })],
    [400, "no document", post({ body: {} })],
    [400, "no document in a URL", get({})],
    [400, "a document that does not parse", post({ body: { query: "{ hello" } })],
    [400, "a document that does not validate", post({ body: { query: "{ nope }" } })],
    [400, "variables that do not coerce", post({ body: { query: echo, variables: { i: "x" } } })],
    [400, "over the cost budget", post({ body: { query: "{ hello hello hello hello }" } })],
    [403, "introspection while it is off", post({ body: { query: "{ __schema { types { name } } }" } })],
    [405, "a mutation by GET", get({ query: { query: "mutation { login }" } })],
    [413, "a body that is too large", post({ headers: JSON_BODY, body: bodyOfSize(1025) })],
    [415, "another content type", post({ headers: { "content-type": "text/plain" }, body: "{ hello }" })],
    [400, "a file of another type", post(upload("application/pdf"))],
    [200, "a field that fails", post({ body: { query: "{ boom }" } })],
    [200, "a query", post({ body: hello })],
    [200, "a query by GET", get({ query: hello })],
    [200, "an upload", post(upload("image/png"))],
  ])("[EPT-22] %i, %s, is the same under both media types", async (status, _title, [method, request]) => {
    const { client } = await open(options);

    const [json, graphql] = await Promise.all(
      ["application/json", GRAPHQL_TYPE].map((accept) =>
        client.request(method, "/graphql", { ...request, headers: { ...request.headers, accept } }),
      ),
    );

    expect([json?.status, graphql?.status]).toEqual([status, status]);
    expect([json, graphql].map((answer) => answer && typeOf(answer))).toEqual(["application/json", GRAPHQL_TYPE]);
  });
});

describe("the response", () => {
  it("[EPT-23] [EPT-24] [EPT-25] has data and extensions, and errors only when there are any", async () => {
    const { client } = await open();

    const good = await client.post("/graphql", { body: hello });
    const failing = await client.post("/graphql", { body: { query: "{ hello boom }" } });

    expect(Object.keys(bodyOf(good))).toEqual(["data", "extensions"]);
    expect(bodyOf(good).extensions).toEqual({ cost: { depth: 1, cost: 1, aliases: 0, breadth: 1, fields: 1 } });
    expect(bodyOf(failing).data).toEqual({ hello: "world", boom: null });
    expect(bodyOf(failing).errors).toHaveLength(1);
  });

  it("[EPT-34] is not cached unless a resolver allows it", async () => {
    const news = field(t.string, { params: { scope: t.nullable(t.string) } })(({ ctx, scope }) => {
      ctx.cache(scope === "public" ? { maxAge: 60, scope } : { maxAge: 60.9 });
      return "news";
    });
    const broken = field(t.nullable(t.string))(() => {
      throw new Error("no");
    });
    const { client } = await openSchema(schema({ query: { news, broken, old: field(t.string)(() => "old") } }));
    const kept = async (query: string) => (await client.get("/graphql", { query: { query } })).headers["cache-control"];

    expect([
      await kept("{ old }"),
      await kept("{ nope }"),
      await kept('{ news(scope: "public") }'),
      await kept("{ old news }"),
      await kept("{ news broken }"),
    ]).toEqual(["no-store", "no-store", "public, max-age=60", "private, max-age=60", "no-store"]);
  });

  it("[EPT-35] varies by Accept, also for errors", async () => {
    const { client } = await open();

    const answers = [
      await client.post("/graphql", { body: hello }),
      await client.get("/graphql", { query: hello }),
      await client.post("/graphql", { body: {} }),
      await client.post("/graphql", { headers: { accept: "image/png" }, body: hello }),
      await client.delete("/graphql"),
    ];

    for (const { headers } of answers) expect(headers["vary"]?.split(", ")).toContain("Accept");
  });
});

describe("a request that a page of another origin can make a browser send", () => {
  /** The three kinds, with these headers. */
  async function kinds(headers: Readonly<Record<string, string>>, origins: readonly Origin[] = []) {
    const { client, ran } = await open({ uploads: { enabled: true } }, { origins });
    const own = (request: TestRequest): TestRequest => ({
      ...request,
      headers: { ...request.headers, ...resolve(headers, client) },
    });
    const answers = [
      await client.get("/graphql", own({ query: hello })),
      await client.post("/graphql", own({ headers: FORM, body: new URLSearchParams(hello).toString() })),
      await client.post("/graphql", own({ headers: { "content-type": CONTENT_TYPE }, body: form(oneFile()) })),
    ];
    return { client, statuses: answers.map(({ status }) => status), codes: answers.flatMap(codesOf), ran };
  }
  const resolve = (headers: Readonly<Record<string, string>>, { url }: LiveClient): Record<string, string> =>
    Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, value === "own" ? new URL(url).origin : value]),
    );

  it.each([
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site" },
    { origin: EVIL },
    { origin: "null" },
    { origin: EVIL, "sec-fetch-site": "cross-site" },
  ])("[EPT-28] is 403 with %o, by GET, as a form and as an upload, and runs nothing", async (headers) => {
    const { statuses, codes, ran } = await kinds(headers);

    expect(statuses).toEqual([403, 403, 403]);
    expect(codes).toEqual(["CROSS_SITE_REFUSED", "CROSS_SITE_REFUSED", "CROSS_SITE_REFUSED"]);
    expect(ran).toEqual({});
  });

  it.each([{ "sec-fetch-site": "same-origin" }, { "sec-fetch-site": "none" }, { origin: SHOP }, { origin: "own" }, {}])(
    "[EPT-29] passes with %o",
    async (headers) => {
      const { statuses } = await kinds(headers, [SHOP]);

      expect(statuses).toEqual([200, 200, 200]);
    },
  );

  it.each(["graphql-require-preflight", "apollo-require-preflight"])(
    "[EPT-30] passes with the header %s",
    async (name) => {
      const { statuses } = await kinds({ [name]: "1", origin: EVIL, "sec-fetch-site": "cross-site" });
      const { statuses: empty } = await kinds({ [name]: "", origin: EVIL });

      expect([statuses, empty]).toEqual([
        [200, 200, 200],
        [403, 403, 403],
      ]);
    },
  );

  it("is not a JSON request, for which browsers send a preflight", async () => {
    const { client } = await open();

    const answer = await client.post("/graphql", {
      headers: { origin: EVIL, "sec-fetch-site": "cross-site" },
      body: hello,
    });

    expect([answer.status, answer.headers["access-control-allow-origin"]]).toEqual([200, undefined]);
  });

  it("[EPT-39] is accepted from the origins that CORS and sockets use too, and always from the same origin", async () => {
    const app = new PorticoApp({ logger: false, origins: [SHOP] }).socket("/chat", ({ socket }) =>
      socket.send("hello"),
    );
    new Graph(fixtureSchema()).mount(app);
    const client = await openApp(app);
    const socketFrom = async (origin: string): Promise<number> => {
      try {
        const socket = await client.socket("/chat", { headers: { origin } });
        socket.close();
        return 101;
      } catch (error) {
        return (error as SocketRefused).response.status;
      }
    };

    const seen = await Promise.all(
      [SHOP, EVIL, new URL(client.url).origin].map(async (origin) => {
        const answer = await client.get("/graphql", { headers: { origin }, query: hello });
        return [answer.headers["access-control-allow-origin"], answer.status, await socketFrom(origin)];
      }),
    );

    expect(seen).toEqual([
      [SHOP, 200, 101],
      [undefined, 403, 403],
      [undefined, 200, 101],
    ]);
  });
});

describe("when several errors apply to one request", () => {
  const foreign = { origin: EVIL };
  const mutation = { query: "mutation { login }" };
  const introspection = { query: "{ __schema { types { name } } }" };

  it.each<[string, number, string, TestRequest]>([
    ["method before media types", 405, "GET", { headers: { accept: "image/png" }, query: hello }],
    ["method before forgery", 405, "GET", { headers: foreign, query: hello }],
    [
      "content type before Accept",
      415,
      "POST",
      { headers: { "content-type": "text/plain", accept: "image/png" }, body: "{ hello }" },
    ],
  ])("[EPT-38] the first is returned: %s (%i)", async (_title, status, method, request) => {
    const { client } = await open({ transport: { getQueries: false } });

    expect((await client.request(method, "/graphql", request)).status).toBe(status);
  });

  it.each<[string, number, string, TestRequest]>([
    [
      "content type before forgery",
      415,
      "UNSUPPORTED_MEDIA_TYPE",
      { headers: { ...foreign, "content-type": "text/plain" }, query: hello },
    ],
    ["Accept before forgery", 406, "NOT_ACCEPTABLE", { headers: { ...foreign, accept: "image/png" }, query: hello }],
    ["Accept before a mutation", 406, "NOT_ACCEPTABLE", { headers: { accept: "image/png" }, query: mutation }],
    ["forgery before a mutation", 403, "CROSS_SITE_REFUSED", { headers: foreign, query: mutation }],
    ["forgery before introspection", 403, "CROSS_SITE_REFUSED", { headers: foreign, query: introspection }],
    [
      "a mutation before introspection",
      405,
      "METHOD_NOT_ALLOWED",
      { query: { query: "mutation { __schema { types { name } } }" } },
    ],
  ])("[EPT-38] the first is returned for a GET: %s (%i)", async (_title, status, code, request) => {
    const { client } = await open({ introspection: false });

    const answer = await client.get("/graphql", request);

    expect(verdictOf(answer)).toEqual([status, code]);
  });
});
