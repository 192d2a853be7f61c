import { GraphQLError } from "graphql";
import {
  Conflict,
  HttpException,
  type MiddlewareFunction,
  PorticoApp,
  PorticoError,
  ServiceUnavailable,
} from "portico";
import {
  type FormattedError,
  field,
  Graph,
  type GraphOptions,
  GraphQLDenied,
  type ObjectType,
  object,
  schema,
  t,
} from "portico/graphql";
import type { CaughtLine, LogCatcher, TestRequest } from "portico/testing";
import { afterEach, describe, expect, it, vi } from "vitest";
import { ask, userNamed } from "../ask.ts";
import { CONTENT_TYPE, form, oneFile } from "../uploads/multipart-form.ts";
import { bodyOf, bodyOfSize, codesOf, JSON_BODY, open, openApp, openSchema, verdictOf } from "./open.ts";

const INTROSPECTION = { query: "{ __schema { types { name } } }" };
const MISSPELT = { query: "{ helo }" };
const linesWith = ({ lines }: LogCatcher, id: unknown): readonly CaughtLine[] =>
  lines.filter((line) => JSON.stringify(line).includes(String(id)));

afterEach(() => void vi.unstubAllEnvs());

describe("a request that does not reach execution", () => {
  const refusals: readonly [clause: string, title: string, status: number, code: string, request: TestRequest][] = [
    ["[ERR-03]", "a body that is not JSON", 400, "BODY_NOT_JSON", { headers: JSON_BODY, body: "{oops" }],
    ["[ERR-04]", "a request without a document", 400, "BAD_REQUEST", { body: {} }],
    ["[ERR-05]", "a document that does not parse", 400, "GRAPHQL_PARSE_FAILED", { body: { query: "{ hello" } }],
    [
      "[ERR-06]",
      "a document that does not validate",
      400,
      "GRAPHQL_VALIDATION_FAILED",
      { body: { query: "{ hello nope }" } },
    ],
    [
      "[ERR-07]",
      "an operation over the cost budget",
      400,
      "COST_LIMIT_EXCEEDED",
      { body: { query: "{ hello hello hello hello }" } },
    ],
    ["[ERR-08]", "introspection while it is off", 403, "INTROSPECTION_DISABLED", { body: INTROSPECTION }],
    [
      "[ERR-09]",
      "a body larger than maxBody",
      413,
      "PAYLOAD_TOO_LARGE",
      { headers: JSON_BODY, body: bodyOfSize(1025) },
    ],
    [
      "[ERR-10]",
      "a file of a type that is not taken",
      400,
      "UPLOAD_TYPE_REFUSED",
      { headers: { "content-type": CONTENT_TYPE }, body: form(oneFile("x", { type: "application/pdf" })) },
    ],
  ];
  it.each(refusals)(
    "%s [ERR-01] [ERR-37] %s is %i %s, without data, and runs nothing",
    async (_clause, _title, status, code, request) => {
      const { client, ran } = await open({
        introspection: false,
        limits: { cost: 3 },
        transport: { maxBody: "1kb" },
        uploads: { enabled: true, contentTypes: ["image/*"] },
      });

      const answer = await client.post("/graphql", request);

      expect(verdictOf(answer)).toEqual([status, code]);
      expect(Object.keys(bodyOf(answer)).filter((key) => key !== "extensions")).toEqual(["errors"]);
      expect(ran).toEqual({});
    },
  );

  it.each([true, false])(
    "has the message of a scalar about a value, in the document and in the variables (introspection: %s)",
    async (introspection) => {
      const Isbn = t.scalar<string>("Isbn", {
        serialize: String,
        parse() {
          throw new TypeError("an ISBN has 13 digits");
        },
      });
      const title = field(t.string, { params: { isbn: Isbn } })(() => "never");
      const { client } = await openSchema(schema({ query: { title } }), { introspection });

      const literal = await client.post("/graphql", { body: { query: '{ title(isbn: "emma") }' } });
      const variable = await client.post("/graphql", {
        body: { query: "query ($isbn: Isbn!) { title(isbn: $isbn) }", variables: { isbn: "emma" } },
      });

      expect([verdictOf(literal), verdictOf(variable)]).toEqual([
        [400, "GRAPHQL_VALIDATION_FAILED"],
        [400, "BAD_USER_INPUT"],
      ]);
      for (const answer of [literal, variable])
        expect(bodyOf(answer).errors?.[0]?.message).toContain("an ISBN has 13 digits");
    },
  );

  it("[ERR-04] is a GET without a query, too", async () => {
    const { client } = await open();

    expect(verdictOf(await client.get("/graphql"))).toEqual([400, "BAD_REQUEST"]);
  });

  it("[ERR-07] runs when it is exactly at the budget", async () => {
    const { client } = await open({ limits: { cost: 3 } });

    expect((await client.post("/graphql", { body: { query: "{ hello hello hello }" } })).status).toBe(200);
  });

  it("[ERR-08] is introspection under any alias, through fragments, and by __type", async () => {
    const { client } = await open({ introspection: false });
    const documents = [
      "{ x: __schema { types { name } } }",
      '{ __type(name: "A") { name } }',
      "{ ...F } fragment F on Query { ... { __schema { types { name } } } }",
      "query A { hello } query B { __schema { types { name } } }",
    ];

    const answers = await Promise.all(
      documents.map((query) =>
        client.post("/graphql", { body: { query, ...(query.startsWith("query A") ? { operationName: "B" } : {}) } }),
      ),
    );
    const typename = await client.post("/graphql", { body: { query: "{ __typename }" } });

    expect(answers.map(verdictOf)).toEqual(answers.map(() => [403, "INTROSPECTION_DISABLED"]));
    expect(bodyOf(typename).data).toEqual({ __typename: "Query" });
  });
});

describe("a field", () => {
  it("[ERR-02] [ERR-11] that fails returns 200 with data and errors, and its path in the error", async () => {
    const { client } = await open();

    const answer = await client.post("/graphql", { body: { query: "{ hello boom }" } });

    expect([answer.status, bodyOf(answer).data]).toEqual([200, { hello: "world", boom: null }]);
    expect(bodyOf(answer).errors).toEqual([
      {
        message: "Unexpected error",
        path: ["boom"],
        locations: [{ line: 1, column: 9 }],
        extensions: { code: "INTERNAL_SERVER_ERROR", correlationId: expect.any(String) },
      },
    ]);
  });

  /** Signs in the callers that ask for it. */
  const signIn: MiddlewareFunction = async (ctx, next) => {
    const name = ctx.request.headers["x-user"];
    if (typeof name === "string") ctx.identity = { user: userNamed(name), auth: "session" };
    await next();
  };
  const gated = schema({
    query: {
      open: field(t.string)(() => "open"),
      mine: field(t.nullable(t.string), { auth: true })(() => "mine"),
      theirs: field(t.nullable(t.string), { auth: (user) => user.identity === "ada" })(() => "theirs"),
    },
  });

  it("[ERR-12] [ERR-14] that requires a signed-in user returns UNAUTHENTICATED to anonymous callers, on itself only", async () => {
    const { client } = await openSchema(gated, { middleware: [signIn] });
    const query = "{ open mine }";

    const nobody = await client.post("/graphql", { body: { query } });
    const ada = await client.post("/graphql", { headers: { "x-user": "ada" }, body: { query } });
    const { errors } = await ask(gated, query);

    expect([nobody.status, bodyOf(nobody).data, codesOf(nobody)]).toEqual([
      200,
      { open: "open", mine: null },
      ["UNAUTHENTICATED"],
    ]);
    expect(bodyOf(nobody).errors?.[0]?.path).toEqual(["mine"]);
    expect(bodyOf(ada).data).toEqual({ open: "open", mine: "mine" });
    expect(errors?.[0]?.originalError).toBeInstanceOf(GraphQLDenied);
  });

  it("that is denied logs a short line per row, without a stack", async () => {
    const Book: ObjectType<{ readonly title: string }> = object("Book", {
      title: t.string,
      cost: field(t.nullable(t.int), { auth: true })(() => 3),
      lent: field(t.nullable(t.int))(() => {
        throw new Conflict("It is lent", { cause: new Error("the other reader") });
      }),
    });
    const books = field(t.list(Book))(() => [{ title: "Emma" }, { title: "Persuasion" }]);
    const { client, log } = await openSchema(schema({ query: { books } }));
    log.clear();

    const answer = await client.post("/graphql", { body: { query: "{ books { title cost } }" } });
    const refused = log.lines.filter(({ correlation_id }) => correlation_id !== undefined);
    log.clear();
    await client.post("/graphql", { body: { query: "{ books { lent } }" } });

    expect(codesOf(answer)).toEqual(["UNAUTHENTICATED", "UNAUTHENTICATED"]);
    const line = {
      level: "info",
      msg: "Authentication required",
      code: "UNAUTHENTICATED",
      method: "POST",
      path: "/graphql",
    };
    expect(refused).toMatchObject([
      { ...line, field: "books.0.cost" },
      { ...line, field: "books.1.cost" },
    ]);
    expect(JSON.stringify(refused)).not.toMatch(/stack|"err"/);
    // The cause of an HTTP exception is logged.
    expect(log.text).toContain("the other reader");
  });

  it("[ERR-13] [ERR-14] that a user may not read returns FORBIDDEN, on itself only", async () => {
    const { client } = await openSchema(gated, { middleware: [signIn] });
    const query = "{ open theirs }";

    const bob = await client.post("/graphql", { headers: { "x-user": "bob" }, body: { query } });
    const ada = await client.post("/graphql", { headers: { "x-user": "ada" }, body: { query } });
    const { errors } = await ask(gated, query, { user: userNamed("bob") });

    expect([bob.status, bodyOf(bob).data, codesOf(bob)]).toEqual([200, { open: "open", theirs: null }, ["FORBIDDEN"]]);
    expect(bodyOf(bob).errors?.[0]?.path).toEqual(["theirs"]);
    expect(bodyOf(ada).data).toEqual({ open: "open", theirs: "theirs" });
    expect(errors?.[0]?.originalError).toBeInstanceOf(GraphQLDenied);
  });
});

describe("an error", () => {
  it("[ERR-15] [ERR-16] [ERR-17] has a code and a unique id, which is in one log line", async () => {
    const { client, log } = await open();
    log.clear();

    const fields = await client.post("/graphql", {
      headers: { "x-request-id": "from-outside" },
      body: { query: "{ boom other: boom }" },
    });
    const request = await client.post("/graphql", {
      headers: { "x-request-id": "from-outside" },
      body: { query: "{ nope }" },
    });

    const errors = [...(bodyOf(fields).errors ?? []), ...(bodyOf(request).errors ?? [])];
    const ids = errors.map(({ extensions }) => extensions.correlationId);
    expect(errors.map(({ extensions }) => extensions.code)).toEqual([
      "INTERNAL_SERVER_ERROR",
      "INTERNAL_SERVER_ERROR",
      "GRAPHQL_VALIDATION_FAILED",
    ]);
    expect([new Set(ids).size, ids.includes("from-outside")]).toEqual([3, false]);
    for (const id of ids) expect(linesWith(log, id)).toMatchObject([{ correlation_id: id }]);
  });

  it("[ERR-15] of a failing field is in the log with the error that was thrown", async () => {
    const { client, log } = await open();

    const answer = await client.post("/graphql", { body: { query: "{ boom }" } });

    const [line] = linesWith(log, bodyOf(answer).errors?.[0]?.extensions.correlationId);
    expect(line).toMatchObject({ level: "error", msg: "secret db at 10.0.0.1", field: "boom" });
  });

  it.each([
    ["x-request-id", "abc-123"],
    ["traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"],
  ])("[ERR-38] is logged with the incoming %s, as request_id", async (name, value) => {
    const { client, log } = await open();

    const answer = await client.post("/graphql", { headers: { [name]: value }, body: { query: "{ boom }" } });

    const [line] = linesWith(log, bodyOf(answer).errors?.[0]?.extensions.correlationId);
    expect(line?.["request_id"]).toBe(value);
  });

  const throwing = (error: unknown) =>
    schema({
      query: {
        fails: field(t.nullable(t.string))(() => {
          throw error;
        }),
      },
    });
  const failing = async (error: unknown, options: GraphOptions = {}): Promise<FormattedError | undefined> => {
    const { client } = await openSchema(throwing(error), options);
    return bodyOf(await client.post("/graphql", { body: { query: "{ fails }" } })).errors?.[0];
  };

  it("[ERR-18] hides what a resolver threw, unless it is meant for clients", async () => {
    const texts = await Promise.all(
      [
        new Error("secret"),
        new TypeError("secret"),
        "secret",
        { message: "secret", extensions: { code: "secret" } },
        new GraphQLError("shown", { extensions: { code: "OUT_OF_STOCK", left: 0 } }),
        new Conflict("also shown"),
        new HttpException(418, "a teapot", { code: "TEAPOT" }),
      ].map((error) => failing(error)),
    );

    expect(texts.map((error) => [error?.message, error?.extensions.code])).toEqual([
      ["Unexpected error", "INTERNAL_SERVER_ERROR"],
      ["Unexpected error", "INTERNAL_SERVER_ERROR"],
      ["Unexpected error", "INTERNAL_SERVER_ERROR"],
      ["Unexpected error", "INTERNAL_SERVER_ERROR"],
      ["shown", "OUT_OF_STOCK"],
      ["also shown", "CONFLICT"],
      ["a teapot", "TEAPOT"],
    ]);
    expect(JSON.stringify(texts.slice(0, 4))).not.toContain("secret");
    expect(texts[4]?.extensions).toMatchObject({ left: 0 });
  });

  it("has the members and the Retry-After of an exception, and they never replace its code", async () => {
    class OutOfStock extends HttpException {
      override get members(): Readonly<Record<string, unknown>> {
        return { left: 2, due: new Date(0), code: "MINE", correlationId: "mine" };
      }
    }
    class Broken extends PorticoError {
      override get members(): Readonly<Record<string, unknown>> {
        return { secret: "table users" };
      }
    }

    const stock = await failing(new OutOfStock(409, "two are left", { code: "OUT_OF_STOCK" }));
    const later = await failing(new ServiceUnavailable("not now", { retryAfterSeconds: 30 }));
    const masked = await failing(new Broken("BROKEN", "secret"));

    expect(stock?.extensions).toMatchObject({ code: "OUT_OF_STOCK", left: 2, due: "1970-01-01T00:00:00.000Z" });
    expect(stock?.extensions.correlationId).not.toBe("mine");
    expect(later?.extensions).toMatchObject({ code: "SERVICE_UNAVAILABLE", retryAfter: 30 });
    expect(Object.keys(masked?.extensions ?? {})).toEqual(["code", "correlationId"]);
  });

  it("reports an outage with Retry-After, as a route does; the cause stays in the log", async () => {
    class Outage extends PorticoError {
      override get members(): Readonly<Record<string, unknown>> {
        return { secret: "table users" };
      }
    }
    const headers = { "retry-after": "1" };

    const database = await failing(new Outage("SERVICE_UNAVAILABLE", "secret", { status: 503, headers }));
    const store = await failing(new Outage("STORE_UNAVAILABLE", "secret", { status: 503 }));

    expect(database).toMatchObject({
      message: "Service unavailable. Try again later.",
      extensions: { code: "SERVICE_UNAVAILABLE", retryAfter: 1 },
    });
    expect(store?.extensions).toMatchObject({ code: "STORE_UNAVAILABLE" });
    expect(JSON.stringify([database, store])).not.toMatch(/secret|users/);
  });

  it("[ERR-19] is masked in development and in production, and shown only with debug", async () => {
    const error = new Error("secret");
    vi.stubEnv("NODE_ENV", "development");
    const [development, debugged] = [await failing(error), await failing(error, { debug: true })];
    vi.stubEnv("NODE_ENV", "production");
    const production = await failing(error);

    expect([development?.message, production?.message, debugged?.message]).toEqual([
      "Unexpected error",
      "Unexpected error",
      "secret",
    ]);
    expect(() => new Graph(throwing(error), { debug: true })).toThrow("Graph.debug");
  });

  it("of a value that its scalar cannot serialize does not contain the value", async () => {
    const { client } = await openSchema(
      schema({ query: { age: field(t.nullable(t.int))(() => "4711 secret" as never) } }),
    );

    const answer = await client.post("/graphql", { body: { query: "{ age }" } });

    expect([codesOf(answer), answer.text().includes("4711")]).toEqual([["INTERNAL_SERVER_ERROR"], false]);
  });

  it.each([
    ["DateTime", t.dateTime, "2020-01-01", "a string"],
    ["DateTime", t.dateTime, new Date(Number.NaN), "an invalid Date"],
    ["Upload", t.upload, { filename: "secret.txt" }, "an object (Object)"],
    [
      "Money",
      t.scalar<bigint>("Money", {
        serialize: (value) => {
          throw new GraphQLError(`no money: ${value}`);
        },
        parse: (value) => BigInt(String(value)),
      }),
      4711,
      "a number",
    ],
  ])(
    "of a value that %s cannot serialize is masked, and the log names its kind and field",
    async (name, type, value, kind) => {
      const { client, log } = await openSchema(
        schema({ query: { at: field(t.nullable(type as typeof t.json))(() => value) } }),
      );

      const [told] = bodyOf(await client.post("/graphql", { body: { query: "{ since: at }" } })).errors ?? [];

      expect([told?.message, told?.path, told?.extensions.code]).toEqual([
        "Unexpected error",
        ["since"],
        "INTERNAL_SERVER_ERROR",
      ]);
      const [line, ...others] = linesWith(log, told?.extensions.correlationId);
      expect(others).toEqual([]);
      expect(line).toMatchObject({ level: "error", field: "since" });
      expect(JSON.stringify(line)).toContain(`${name} cannot represent the value that the resolver returned: ${kind}`);
    },
  );
});

describe("introspection and suggestions", () => {
  /** Whether the schema is visible, and whether errors suggest a name for a misspelt field, argument or value. */
  async function told(options: GraphOptions = {}): Promise<readonly unknown[]> {
    const { client } = await open(options);
    const schema = await client.post("/graphql", { body: INTROSPECTION });
    const misspelt = await client.post("/graphql", { body: MISSPELT });
    const argument = await client.post("/graphql", {
      body: { query: "query ($o: In) { echo(o: $o) }", variables: { o: { ss: "x" } } },
    });
    return [schema.status, ...[misspelt, argument].map((answer) => answer.text().includes("Did you mean"))];
  }

  it("[ERR-20] are off together in production, and on elsewhere", async () => {
    vi.stubEnv("NODE_ENV", "production");
    const production = await told();
    vi.stubEnv("NODE_ENV", "development");
    const development = await told();

    expect(production).toEqual([403, false, false]);
    expect(development).toEqual([200, true, true]);
  });

  it("[ERR-21] follow the option introspection", async () => {
    vi.stubEnv("NODE_ENV", "production");
    const production = await told({ introspection: true });
    vi.stubEnv("NODE_ENV", "development");
    const development = await told({ introspection: false });

    expect(production).toEqual([200, true, true]);
    expect(development).toEqual([403, false, false]);
  });
});

it("returns a GraphQL response when something outside the operation breaks", async () => {
  const app = new PorticoApp({ logger: false });
  const broken: MiddlewareFunction = () => {
    throw new Error("secret");
  };
  new Graph(throwingNothing(), { middleware: [broken] }).mount(app);
  const client = await openApp(app);

  const answer = await client.post("/graphql", { body: { query: "{ ok }" } });

  expect(verdictOf(answer)).toEqual([500, "INTERNAL_SERVER_ERROR"]);
  expect(bodyOf(answer).errors?.[0]?.message).toBe("Unexpected error");
});

function throwingNothing() {
  return schema({ query: { ok: field(t.boolean)(() => true) } });
}

describe("an argument that the document and its variables leave without a value", () => {
  const Key = t.oneOf("Key", { id: t.id, isbn: t.string });
  const nothing = field(t.nullable(t.string), { params: { by: Key } })(({ by }) => by.isbn ?? "");
  const count = field(t.nullable(t.string), { params: { a: t.int } })(({ a }) => String(a));
  const built = schema({ query: { book: nothing, count } });

  it.each([
    ["a variable of a oneOf input that was left out", "query ($v: String) { book(by: { isbn: $v }) }", {}],
    ["null for the only key of a oneOf input", "query ($v: String) { book(by: { isbn: $v }) }", { v: null }],
    ["null for an argument that is required", "query ($v: Int = 3) { count(a: $v) }", { v: null }],
  ])("is the client's mistake: %s", async (_what, query, variables) => {
    const { client, log } = await openSchema(built);

    const answer = await client.post("/graphql", { body: { query, variables } });

    expect(codesOf(answer)).toEqual(["BAD_USER_INPUT"]);
    expect(log.lines.filter(({ level }) => Number(level) >= 50)).toEqual([]);
  });

  it("is not confused with the message of a resolver that begins in the same way", async () => {
    const thrown = field(t.string)(() => {
      throw new GraphQLError('Argument "a" is ours');
    });
    const { client } = await openSchema(schema({ query: { thrown } }));

    expect(codesOf(await client.post("/graphql", { body: { query: "{ thrown }" } }))).toEqual([
      "INTERNAL_SERVER_ERROR",
    ]);
  });
});
