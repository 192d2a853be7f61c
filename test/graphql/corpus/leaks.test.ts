import { GraphQLError, type GraphQLSchema } from "graphql";
import { Depend, type Gate, HttpException, type Middleware, TooManyRequests } from "portico";
import { field, loader, type ObjectType, type Of, object, schema, t } from "portico/graphql";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { passTime, untilWithoutTime } from "../../pass-time.ts";
import { userNamed } from "../ask.ts";
import { type Answer, type Endpoint, Section } from "./harness.ts";

const section = new Section();
let endpoint: Endpoint;
let closed: Endpoint;
beforeAll(async () => {
  endpoint = await section.serve();
  closed = await section.serve({ graph: { introspection: false } });
});
afterAll(async () => {
  await section.close();
  vi.unstubAllEnvs();
});

const HIDDEN = { status: 403, code: "INTROSPECTION_DISABLED" };
const MASKED = { message: "Unexpected error", extensions: { code: "INTERNAL_SERVER_ERROR" } };

describe("F. Introspection and leaks", () => {
  it("[graphql:F1] the schema is hidden while introspection is off, as it is in production", async () => {
    vi.stubEnv("NODE_ENV", "production");
    const production = await section.serve({ introspection: false });
    vi.unstubAllEnvs();

    for (const on of [closed, production]) {
      expect(await on.query("{__schema{types{name}}}")).toMatchObject(HIDDEN);
      expect(await on.get({ query: "{__schema{types{name}}}" })).toMatchObject(HIDDEN);
    }
    expect(await endpoint.query("{__schema{types{name}}}")).toMatchObject({ status: 200, errors: [] });
  });

  it("[graphql:F2] so is a type, however it is queried", async () => {
    const type = '__type(name:"A"){name}';
    const documents = [
      `{${type}}`,
      `{...F} fragment F on Query{${type}}`,
      `{x:${type}}`,
      `{hello ...{...{y:${type}}}}`,
      `query Q{hello} query R{${type}}`,
      "{hello x:__schema{queryType{name}}}",
    ];

    for (const query of documents) {
      const answer = await closed.post({ query, ...(query.includes("query R") ? { operationName: "R" } : {}) });
      expect(answer, query).toMatchObject(HIDDEN);
      expect(closed.ran).toEqual({});
    }
  });

  it("[graphql:F3] __typename still works", async () => {
    expect(await closed.query("{__typename a{__typename}}")).toMatchObject({
      status: 200,
      data: { __typename: "Query", a: { __typename: "A" } },
    });
  });

  it("[graphql:F4] no name is suggested while introspection is off", async () => {
    const Colour = t.enum("Colour", { RED: {}, GREEN: {} });
    const paint = field(t.nullable(t.string), { params: { colour: t.nullable(Colour) } })(() => "");
    const coloured = schema({ query: { paint } });
    const open = await section.serve({ schema: coloured });
    const hidden = await section.serve({ schema: coloured, graph: { introspection: false } });
    const inputs: readonly [query: string, variables?: Readonly<Record<string, unknown>>][] = [
      ["{helo}"],
      ["{a{idd}}"],
      ["{list(firs:1){id}}"],
      ["{a{...on AA{id}}}"],
      ["query($o:Inn){echo(o:$o)}"],
      ["{echo(o:{ss:1})}"],
      ["query($o:In){echo(o:$o)}", { o: { ss: "" } }],
    ];

    for (const [query, variables] of inputs) {
      expect((await endpoint.query(query, variables)).text, query).toContain("Did you mean");
      expect((await closed.query(query, variables)).status, query).toBe(400);
    }
    for (const [query, variables] of [
      ["{paint(colour:RD)}"],
      ["query($c:Colour){paint(colour:$c)}", { c: "RD" }],
    ] as const) {
      expect((await open.query(query, variables)).text, query).toContain("Did you mean");
      expect((await hidden.query(query, variables)).status, query).toBe(400);
    }
  });

  it("an entry of a batch is rejected like a separate request", async () => {
    const [single, unknown] = [await closed.query("{__schema{types{name}}}"), await closed.query("{helo}")];

    const batch = await closed.post([{ query: "{__schema{types{name}}}" }, { query: "{helo}" }, { query: "{hello}" }]);

    expect(batch.status).toBe(200);
    expect(batch.operations.map(({ errors }) => errors?.[0]?.message)).toEqual([
      single.message,
      unknown.message,
      undefined,
    ]);
    expect(batch.operations.map(({ errors }) => errors?.[0]?.extensions.code)).toEqual([
      single.code,
      unknown.code,
      undefined,
    ]);
  });

  it("[graphql:F6] what a resolver throws is masked", async () => {
    const answer = await endpoint.query("{boom hello}");

    expect([answer.status, answer.data]).toEqual([200, { boom: null, hello: "world" }]);
    expect(answer.errors).toMatchObject([{ ...MASKED, path: ["boom"] }]);
    expect(endpoint.log.text).toContain("secret db at 10.0.0.1");
  });

  it("[graphql:F7] whatever it throws is masked", async () => {
    const circular = new Error("s3cret");
    circular.cause = circular;
    const getter = {
      get message() {
        throw new Error("s3cret");
      },
    };
    const thrown: Readonly<Record<string, unknown>> = {
      text: "s3cret",
      nothing: null,
      missing: undefined,
      promise: Promise.resolve("s3cret"),
      frozen: Object.freeze({ message: "s3cret" }),
      frozenError: Object.freeze(new Error("s3cret")),
      getter,
      proxy: new Proxy(
        {},
        {
          get: () => {
            throw new Error("s3cret");
          },
          ownKeys: () => {
            throw new Error("s3cret");
          },
        },
      ),
      circular,
      bare: Object.create(null),
      symbol: Symbol("s3cret"),
    };
    const own = await section.serve({ schema: throwing(thrown) });

    for (const name of Object.keys(thrown)) {
      for (const query of [`{now(what:"${name}") fine}`, `{later(what:"${name}") fine}`]) {
        const answer = await own.query(query);
        expect(answer, query).toMatchObject({ status: 200, data: { fine: "fine" }, errors: [MASKED] });
      }
    }
  });

  it("[graphql:F8] extensions that JSON cannot carry are left out", async () => {
    const circle: Record<string, unknown> = {};
    circle["circle"] = circle;
    const error = (extensions: Record<string, unknown>): GraphQLError => new GraphQLError("told", { extensions });
    const own = await section.serve({
      schema: throwing({
        bigint: error({ code: "OWN", n: 1n }),
        function: error({ code: "OWN", f: () => {} }),
        circle: error({ code: "OWN", circle }),
        getter: error({
          code: "OWN",
          get s3cret() {
            throw new Error("s3cret");
          },
        }),
        toJson: error({
          code: "OWN",
          x: {
            toJSON() {
              throw new Error("s3cret");
            },
          },
        }),
        good: error({ code: "OWN", n: 1 }),
      }),
    });

    for (const name of ["bigint", "function", "circle", "toJson"])
      expect(await own.query(`{now(what:"${name}")}`)).toMatchObject({ status: 200, message: "told", code: "OWN" });
    expect((await own.query('{now(what:"good")}')).errors[0]?.extensions).toMatchObject({ code: "OWN", n: 1 });
  });

  it("[graphql:F9] a value that its type cannot carry is masked", async () => {
    const circle: Record<string, unknown> = {};
    circle["circle"] = circle;
    const own = await section.serve({
      schema: schema({
        query: {
          nan: field(t.nullable(t.int))(() => Number.NaN),
          infinite: field(t.nullable(t.float))(() => Number.POSITIVE_INFINITY),
          symbol: field(t.nullable(t.string))(() => Symbol("s3cret") as never),
          object: field(t.nullable(t.string))(() => ({ s3cret: 1 }) as never),
          text: field(t.nullable(t.int))(() => "s3cret" as never),
          list: field(t.nullable(t.list(t.string)))(() => "s3cret" as never),
          fine: field(t.nullable(t.string))(() => "fine"),
          bigint: field(t.nullable(t.json))(() => 1n),
          circle: field(t.nullable(t.json))(() => circle),
        },
      }),
    });

    for (const name of ["nan", "infinite", "symbol", "object", "text", "list"]) {
      const answer = await own.query(`{${name} fine}`);
      expect([answer.status, answer.data], name).toEqual([200, { [name]: null, fine: "fine" }]);
      expect(answer.errors, name).toMatchObject([MASKED]);
    }
    for (const name of ["bigint", "circle"]) {
      const answer = await own.query(`{${name}}`);
      expect([answer.status, answer.errors], name).toMatchObject([200, [MASKED]]);
    }
  });

  it("[graphql:F10] a dependency that fails is an error of its field, and what was open is closed once", async () => {
    const counts = { opened: 0, closed: 0, ran: 0 };
    const lease = Depend(function* () {
      counts.opened++;
      try {
        yield "lease";
      } finally {
        counts.closed++;
      }
    });
    const broken = Depend((): string => {
      throw new Error("s3cret");
    });
    const own = await section.serve({
      schema: schema({
        query: {
          needs: field(t.nullable(t.string), { params: { lease, broken } })(() => {
            counts.ran++;
            return "";
          }),
          fine: field(t.nullable(t.string), { params: { lease } })(({ lease }) => lease),
        },
      }),
    });

    const answer = await own.query("{needs fine}");

    expect([answer.status, answer.data]).toEqual([200, { needs: null, fine: "lease" }]);
    expect(answer.errors).toMatchObject([{ ...MASKED, path: ["needs"] }]);
    expect(counts).toEqual({ opened: 1, closed: 1, ran: 0 });
  });

  it("[graphql:F11] a hook that throws changes nothing, and is logged", async () => {
    for (const hook of [
      () => {
        throw new Error("s3cret");
      },
      async () => Promise.reject(new Error("s3cret")),
    ]) {
      const own = await section.serve({ hook });

      expect(await own.query("{hello}")).toMatchObject({ status: 200, data: { hello: "world" }, errors: [] });
      expect(own.log.lines.filter(({ msg }) => msg === "an operation hook failed").length).toBeGreaterThan(0);
    }
  });

  it("[graphql:F12] a gated field without authentication is refused on that field", async () => {
    const answer = await endpoint.query("{secret hello}");

    expect([answer.status, answer.data]).toEqual([200, { secret: null, hello: "world" }]);
    expect(answer.errors).toMatchObject([{ path: ["secret"], extensions: { code: "UNAUTHENTICATED" } }]);
  });

  it("[graphql:F13] only a gate that returns true allows access: not one that throws, returns something else, or returns nothing", async () => {
    const never = new Promise<boolean>(() => {});
    let hasHung = false;
    const gates = {
      throws: () => {
        throw new Error("s3cret");
      },
      rejects: async () => Promise.reject(new Error("s3cret")),
      object: () => ({}) as never,
      number: () => 1 as never,
      text: async () => "true" as never,
      nothing: () => undefined as never,
      hangs: () => {
        hasHung = true;
        return never;
      },
    };
    const run = vi.fn<() => string>(() => "");
    const query = Object.fromEntries(
      Object.entries(gates).map(([name, auth]) => [name, field(t.nullable(t.string), { auth })(() => run())]),
    );
    const own = await section.serve({ schema: schema({ query }), graph: { middleware: [signedIn] } });
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    let isAnswered = false;

    const answering = own.query(`{${Object.keys(gates).join(" ")}}`).finally(() => {
      isAnswered = true;
    });
    await untilWithoutTime(() => hasHung);
    await passTime(4_999);
    expect(isAnswered).toBe(false);
    await passTime(1);
    const answer = await answering;

    expect(answer.status).toBe(200);
    expect(answer.errors.map(({ path, extensions }) => `${path?.[0]} ${extensions.code}`).toSorted()).toEqual(
      Object.keys(gates)
        .map((name) => `${name} FORBIDDEN`)
        .toSorted(),
    );
    expect(own.log.lines.filter(({ level }) => level === "error").map(({ gate }) => gate)).toEqual([
      "throws",
      "rejects",
      "hangs",
    ]);
    expect(run).not.toHaveBeenCalled();
  });

  it("[graphql:F14] a gate is called once per operation, or once per object, and a loader's batch stays one", async () => {
    const asked = { user: 0, object: 0, batches: 0 };
    const names = loader((ids: readonly string[]) => {
      asked.batches++;
      return ids.map((id) => `n${id}`);
    });
    type Row = { readonly id: string };
    const ofUser = async (_user: unknown): Promise<boolean> => {
      asked.user++;
      return true;
    };
    const ofObject = async (_user: unknown, { parent }: Of<Row>): Promise<boolean> => {
      asked.object++;
      return parent.id !== "";
    };
    const Item: ObjectType<Row> = object("Item", {
      a: field(t.string, { auth: ofUser })(({ ctx, parent }) => names.load(ctx, parent.id)),
      b: field(t.string, { auth: ofObject })(({ ctx, parent }) => names.load(ctx, parent.id)),
    });
    const rows = Array.from({ length: 300 }, (_, i) => ({ id: String(i) }));
    const items = field(t.list(Item), { listSize: 300 })(() => rows);
    const own = await section.serve({ schema: schema({ query: { items } }), graph: { middleware: [signedIn] } });

    const ofUsers = await own.query("{items{x:a y:a}}");
    const afterUsers = { ...asked };
    const ofObjects = await own.query("{items{x:b y:b}}");

    expect([ofUsers.status, ofUsers.errors, ofObjects.status, ofObjects.errors]).toEqual([200, [], 200, []]);
    expect(afterUsers).toEqual({ user: 1, object: 0, batches: 1 });
    expect(asked).toEqual({ user: 1, object: 300, batches: 2 });
  });

  it("[graphql:F15] a gate is not called for anonymous callers", async () => {
    const gate = vi.fn<() => boolean>(() => true);
    const guarded = field(t.nullable(t.string), { auth: () => gate() })(() => "");
    const own = await section.serve({ schema: schema({ query: { guarded } }) });

    expect(await own.query("{guarded}")).toMatchObject({
      status: 200,
      data: { guarded: null },
      code: "UNAUTHENTICATED",
    });
    expect(gate).not.toHaveBeenCalled();
  });

  it("[graphql:F17] a gate or a middleware of the endpoint rejects with a GraphQL response, unless the app has a handler", async () => {
    const refusals = {
      401: () => new HttpException(401, "who is there?"),
      403: () => new HttpException(403, "not you"),
      429: () => new TooManyRequests(5),
    };
    const refuse = (asked: unknown): void => {
      if (Object.hasOwn(refusals, String(asked))) throw refusals[asked as keyof typeof refusals]();
    };
    const auth: Gate = {
      required: false,
      scopes: [],
      check: (ctx) => refuse(ctx.request.headers["x-gate"]),
    };
    const middleware: Middleware = (ctx, next) => {
      refuse(ctx.request.headers["x-middleware"]);
      return next();
    };
    const own = await section.serve({ graph: { auth, middleware: [middleware] } });
    const handled = await section.serve({
      graph: { auth },
      prepare: (app) =>
        app.addExceptionHandler(TooManyRequests, (_request, response) => response.status(418).json({ own: true })),
    });

    for (const header of ["x-gate", "x-middleware"]) {
      const ask = (status: string): Promise<Answer> =>
        own.post({ query: "{hello}" }, [[header, status]], { operations: 0 });
      expect(await ask("401")).toMatchObject({ status: 401, code: "UNAUTHENTICATED", message: "who is there?" });
      expect(await ask("403")).toMatchObject({ status: 403, code: "FORBIDDEN", message: "not you" });
      const limited = await ask("429");
      expect([limited.status, limited.code, limited.headers["retry-after"]]).toEqual([429, "RATE_LIMITED", "5"]);
      expect(own.ran).toEqual({});
    }
    const json = [
      ["content-type", "application/json"],
      ["x-gate", "429"],
    ] as const;
    const answer = await handled.knock({ headers: json, body: '{"query":"{hello}"}' });
    expect([answer.status, JSON.parse(answer.text), handled.ran]).toEqual([418, { own: true }, {}]);
  });

  it("leaves memory, the event loop and the next request as they were", async () => {
    expect(await section.faults()).toEqual([]);
  });
});

const signedIn: Middleware = (ctx, next) => {
  ctx.identity = { user: userNamed("ada"), auth: "jwt" };
  return next();
};

/** Fields that throw what they are asked for, at once and later. */
function throwing(thrown: Readonly<Record<string, unknown>>): GraphQLSchema {
  const what = t.string;
  return schema({
    query: {
      now: field(t.nullable(t.string), { params: { what } })(({ what }): string => {
        throw thrown[what] as Error;
      }),
      later: field(t.nullable(t.string), { params: { what } })(async ({ what }): Promise<string> => {
        throw thrown[what] as Error;
      }),
      fine: field(t.nullable(t.string))(() => "fine"),
    },
  });
}
