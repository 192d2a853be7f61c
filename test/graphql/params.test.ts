import { BaseContext, Depend, HttpContext, PorticoApp, provide } from "portico";
import {
  field,
  GraphContext,
  Info,
  mutation,
  type ObjectType,
  object,
  printSchema,
  schema,
  subscription,
  t,
} from "portico/graphql";
import { describe, expect, expectTypeOf, it } from "vitest";
import { data, httpContext, introspectTypes, queryFields } from "./ask.ts";

interface BookRow {
  readonly id: string;
}
const hello = { hello: field(t.string)(() => "world") };

/** The same declaration under the query type and under the mutation type. */
const forms = [
  ["field", "", (fields: Record<string, unknown>) => schema({ query: fields as typeof hello })],
  ["mutation", "mutation ", (fields: Record<string, unknown>) => schema({ query: hello, mutation: fields as never })],
] as const;
const declare = { field, mutation };

it("[RES-01] puts each resolver under the type it belongs to", () => {
  const Book: ObjectType<BookRow> = object("Book", {
    id: t.id,
    shout: field(t.string)(({ parent }) => parent.id.toUpperCase()),
  });

  const text = printSchema(
    schema({
      query: { book: field(Book)(() => ({ id: "a" })) },
      mutation: { add: mutation(Book)(() => ({ id: "b" })) },
      subscription: {
        added: subscription(Book)(async function* () {
          yield { id: "c" };
        }),
      },
    }),
  );

  expect(text).toBe(`type Book {
  id: ID!
  shout: String!
}

type Mutation {
  add: Book!
}

type Query {
  book: Book!
}

type Subscription {
  added: Book!
}
`);
});

describe.each(forms)("a resolver of %s", (name, keyword, build) => {
  const make = declare[name] as typeof field;

  it("[RES-02] [RES-24] receives the context under any name that is declared as one", async () => {
    const built = build({
      http: make(t.nullable(t.string), { params: { c: HttpContext } })(({ c }) => c.request.headers["x-shop"]),
      base: make(t.nullable(t.string), { params: { whatever: BaseContext } })(
        ({ whatever }) => whatever.request.headers["x-shop"],
      ),
    });

    expect(await data(built, `${keyword}{ http base }`, { headers: { "x-shop": "north" } })).toEqual({
      http: "north",
      base: "north",
    });
  });

  it("[RES-04] [RES-24] receives graphql's own context value as GraphContext", async () => {
    let seen: unknown;
    const built = build({
      same: make(t.boolean, { params: { g: GraphContext, i: Info } })(({ g, ctx }) => {
        seen = g;
        return g.connection === ctx;
      }),
    });
    const { resolve } = (built.getMutationType() ?? built.getQueryType())?.getFields()["same"] ?? {};
    const graph = new GraphContext(httpContext(), { operationName: "x", cost: 3 });

    expect(resolve?.(undefined, {}, graph, {} as never)).toBe(true);

    expect(seen).toBe(graph);
    expect(await data(built, `${keyword}{ same }`)).toEqual({ same: true });
  });

  it("[RES-05] [RES-24] receives ctx and context without declaring them, the same object as a declared context", async () => {
    const built = build({
      same: make(t.boolean, { params: { c: HttpContext } })(({ ctx, context, c }) => ctx === context && ctx === c),
    });

    expect(await data(built, `${keyword}{ same }`)).toEqual({ same: true });
  });

  it("[RES-06] [RES-24] receives what a dependency resolves to", async () => {
    const nested = provide({ one: Depend(() => 1) })(async ({ one }) => one + 6);
    const built = build({
      sync: make(t.int, { params: { db: Depend(() => 7) } })(({ db }) => db),
      later: make(t.int, { params: { db: Depend(nested) } })(({ db }) => db),
    });

    expect(await data(built, `${keyword}{ sync later }`)).toEqual({ sync: 7, later: 7 });
  });

  it("[RES-08] [RES-24] receives graphql's info as Info", async () => {
    const built = build({ named: make(t.string, { params: { i: Info } })(({ i }) => `${i.fieldName} ${i.path.key}`) });

    expect(await data(built, `${keyword}{ alias: named }`)).toEqual({ alias: "named alias" });
  });

  it("[RES-09] [RES-24] receives every other declared parameter as an argument of that name", async () => {
    const built = build({ echo: make(t.string, { params: { title: t.string } })(({ title }) => title) });

    expect(await data(built, `${keyword}{ echo(title: "x") }`)).toEqual({ echo: "x" });
  });

  it("[RES-10] [RES-24] shows no injected parameter in the schema", () => {
    const built = build({
      all: make(t.string, {
        params: { a: HttpContext, b: BaseContext, c: GraphContext, d: Info, e: Depend(() => 1) },
      })(({ a, b, c, d, e, ctx, context, parent, root, self, info }) =>
        String([a, b, c, d, e, ctx, context, parent, root, self, info].length),
      ),
    });
    const types = introspectTypes(built);
    const root = types.find((type) => type.name === (name === "field" ? "Query" : "Mutation"));

    expect(printSchema(built)).toContain("\n  all: String!\n");
    expect(root).toMatchObject({ fields: [{ name: "all", args: [] }] });
  });

  it("[RES-11] [RES-24] gives an argument its declared type", () => {
    const built = build({
      f: make(t.string, { params: { a: t.int, b: t.nullable(t.string), c: t.list(t.id) } })(
        ({ a, b, c }) => `${a}${b}${c.length}`,
      ),
    });

    expect(printSchema(built)).toContain("f(a: Int!, b: String, c: [ID!]!): String!");
  });

  it("[RES-12] [RES-24] shows a declared default in the schema and passes it if the query omits the argument", async () => {
    const built = build({ limit: make(t.int, { params: { limit: t.int(10) } })(({ limit }) => limit) });

    expect(printSchema(built)).toContain("limit(limit: Int! = 10): Int!");
    expect(await data(built, `${keyword}{ limit other: limit(limit: 3) }`)).toEqual({ limit: 10, other: 3 });
  });
});

it("[RES-07] passes the parent object as parent, root and self", async () => {
  const Book: ObjectType<BookRow> = object("Book", {
    a: field(t.id)(({ parent }) => parent.id),
    b: field(t.id)(({ root }) => root.id),
    c: field(t.id)(({ self }) => self.id),
  });
  const built = schema({ query: { book: field(Book)(() => ({ id: "7" })) } });

  expect(await data(built, "{ book { a b c } }")).toEqual({ book: { a: "7", b: "7", c: "7" } });
});

it("[RES-31] takes ctx, context and info as arguments when they are declared as types", async () => {
  const built = schema({
    query: {
      echo: field(t.string, { params: { ctx: t.string, context: t.string, info: t.int } })(
        ({ ctx, context, info }) => `${ctx} ${context} ${info}`,
      ),
    },
  });

  expect(printSchema(built)).toContain("echo(context: String!, ctx: String!, info: Int!): String!");
  expect(await data(built, '{ echo(ctx: "a", context: "b", info: 3) }')).toEqual({ echo: "a b 3" });
});

it("[RES-34] receives info without declaring it", async () => {
  const built = schema({ query: { name: field(t.string)(({ info }) => info.fieldName) } });

  expect(await data(built, "{ x: name }")).toEqual({ x: "name" });
});

it("[RES-20] calls a sync resolver directly: its value is the field's value", () => {
  const built = schema({
    query: {
      plain: field(t.int, { params: { n: t.int } })(({ n }) => n + 1),
      injected: field(t.int, { params: { n: t.int, one: Depend(() => 1) } })(
        ({ n, one, ctx }) => n + one + (ctx.kind === "http" ? 0 : 1),
      ),
      gated: field(t.int, { auth: () => true })(() => 3),
    },
  });
  const { plain, injected, gated } = queryFields(built);
  const graph = new GraphContext(httpContext({ user: { isAuthenticated: true } as never }), {
    operationName: null,
    cost: null,
  });

  expect(plain?.resolve(undefined, { n: 1 }, graph, {})).toBe(2);
  expect(injected?.resolve(undefined, { n: 1 }, graph, {})).toBe(2);
  expect(gated?.resolve(undefined, {}, graph, {})).toBe(3);
});

it("[RES-21] awaits an async resolver", async () => {
  const later = (): Promise<number> => new Promise((resolve) => setTimeout(resolve, 2, 3));
  const built = schema({ query: { three: field(t.int)(async () => later()) } });

  expect(await data(built, "{ three }")).toEqual({ three: 3 });
});

it("[RES-26] wraps a resolver with or without options", async () => {
  const built = schema({
    query: { a: field(t.int)(() => 1), b: field(t.int, { params: { n: t.int(1) }, cost: 2 })(({ n }) => n + 1) },
  });

  expect(await data(built, "{ a b }")).toEqual({ a: 1, b: 2 });
});

it("passes all names to a resolver that does not destructure its parameter", async () => {
  const built = schema({
    query: {
      keys: field(t.list(t.string), { params: { limit: t.int(2), db: Depend(() => 1), g: GraphContext } })((all) =>
        Object.keys(all).toSorted(),
      ),
    },
  });

  expect(await data(built, "{ keys }")).toEqual({
    keys: ["context", "ctx", "db", "g", "info", "limit", "parent", "root", "self"],
  });
});

it("opens a declared dependency even if the resolver does not use it", async () => {
  let opened = 0;
  const built = schema({ query: { a: field(t.int, { params: { audit: Depend(() => ++opened) } })(() => 1) } });

  await data(built, "{ a }");

  expect(opened).toBe(1);
});

it("fails only the field that declares the context of another transport", async () => {
  const { WebSocketContext } = await import("portico");
  const { ask } = await import("./ask.ts");
  const built = schema({
    query: {
      ws: field(t.nullable(t.string), { params: { ws: WebSocketContext } })(({ ws }) => ws.kind),
      other: field(t.int)(() => 1),
    },
  });

  const result = await ask(built, "{ ws other }");

  expect(result.data).toEqual({ ws: null, other: 1 });
  expect(result.errors?.[0]?.message).toContain("ws is a WebSocketContext");
});

it("[RES-55] passes one object to destructure to route handlers and providers too", async () => {
  const shelf = provide({ one: Depend(() => 1) })(({ one, ctx, context }) => (ctx === context ? one : 0));
  const app = new PorticoApp({ logger: false });
  app.post(
    "/books/:id",
    { params: { shelf: Depend(shelf) } },
    ({ ctx, context, request, response, user, body, query, path, shelf }) => {
      expectTypeOf(ctx).toEqualTypeOf<HttpContext>();
      expectTypeOf(context).toEqualTypeOf<HttpContext>();
      expectTypeOf(user.isAuthenticated).toEqualTypeOf<boolean>();
      expectTypeOf(body).toEqualTypeOf<unknown>();
      expectTypeOf(query["q"]).toEqualTypeOf<string | readonly string[] | undefined>();
      expectTypeOf(path).toEqualTypeOf<{ readonly id: string }>();
      expectTypeOf(shelf).toEqualTypeOf<number>();
      return response.json([
        ctx === context,
        request.method,
        user.isAuthenticated,
        body === undefined,
        query["q"],
        path.id,
        shelf,
      ]);
    },
  );

  const answer = await app.inject({ method: "POST", url: "/books/7?q=x" });
  await app.close();

  expect(JSON.parse(String(answer.body))).toEqual([true, "POST", false, true, "x", "7", 1]);
});
