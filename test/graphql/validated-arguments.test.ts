import type { StandardSchemaV1 } from "@standard-schema/spec";
import { type } from "arktype";
import type { GraphQLSchema } from "graphql";
import { ConfigurationError, PorticoApp } from "portico";
import {
  field,
  Graph,
  type GraphOptions,
  mutation,
  printSchema,
  ResolverError,
  schema,
  subscription,
  t,
} from "portico/graphql";
import { testClient } from "portico/testing";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { ask, data, denial, listen, userNamed } from "./ask.ts";

const email = z.string().trim().toLowerCase().pipe(z.email("must be an email address"));
const Line = t.input("Line", { email: t.string(email), note: t.nullable(t.string(z.string().max(3, "too long"))) });
const Order = t.input("Order", {
  lines: t.list(Line),
  next: t.nullable((): typeof Line => Line),
  by: t.string(z.string().min(2, "too short"), "web"),
});
interface Tree {
  readonly name: string;
  readonly children: readonly Tree[];
}
const TreeInput = t.input("TreeInput", {
  name: t.string(z.string().min(1, "empty")),
  children: t.list((): ReturnType<typeof t.ref<Tree>> => t.ref<Tree>("TreeInput")),
});

const unreachable: StandardSchemaV1<string> = {
  "~standard": { version: 1, vendor: "test", validate: () => Promise.reject(new Error("the registry is down")) },
};

let calls = 0;
const query = {
  one: field(t.string, { params: { email: t.string(email) } })(({ email: address }) => {
    calls++;
    return address;
  }),
  unread: field(t.string, { params: { email: t.string(email) } })(() => "ran"),
  two: field(t.string, {
    params: {
      to: t.arg(t.string(email), { name: "recipient" }),
      count: t.int(z.int().positive("not positive")),
      plain: t.int(1),
    },
  })(({ to, count, plain }) => `${to} ${count + plain}`),
  list: field(t.json, { params: { emails: t.list(t.nullable(t.string(email))) } })(({ emails }) => emails),
  maybe: field(t.json, { params: { a: t.nullable(t.string(email)), b: t.optional(t.string(email)) } })(({ a, b }) => [
    a,
    b === undefined ? "omitted" : b,
  ]),
  order: field(t.json, { params: { input: Order } })(({ input }) => input),
  tree: field(t.json, { params: { tree: TreeInput } })(({ tree }) => tree),
  key: field(t.json, {
    params: { by: t.oneOf("Key", { id: t.id(z.uuid("not a UUID")), email: t.string(email) }) },
  })(({ by }) => by),
  json: field(t.int, { params: { point: t.json(z.object({ x: z.number("not a number") })) } })(({ point }) => point.x),
  day: field(t.string, { params: { day: t.string(z.coerce.date(), "2026-11-16") } })(({ day }) => day.toISOString()),
  length: field(t.int, { params: { text: t.string(v.pipe(v.string(), v.maxLength(3, "too long"), v.length(3))) } })(
    ({ text }) => text.length,
  ),
  ark: field(t.int, { params: { count: t.int(type("number < 10")) } })(({ count }) => count),
  gated: field(t.string, {
    params: { email: t.string(email) },
    auth: (_user, { args }) => args.email === "ada@example.com",
  })(({ email: address }) => address),
  slow: field(t.string, {
    params: { name: t.string(unreachable) },
  })(({ name }) => name),
  throwing: field(t.string, {
    params: {
      name: t.string(
        z.string().refine(() => {
          throw new Error("a secret of the schema");
        }),
      ),
    },
  })(({ name }) => name),
};
const built = schema({
  query,
  mutation: { add: mutation(t.string, { params: { email: t.string(email) } })(({ email: address }) => address) },
  subscription: {
    ticks: subscription(t.int, {
      params: {
        count: t.int(
          z
            .int()
            .max(3, "too many")
            .transform((n) => n * 2),
        ),
      },
    })(async function* ({ count }) {
      for (let n = 1; n <= count; n++) yield n;
    }),
  },
});

/** The message, the code and the issues of each error in the response of an endpoint. */
async function errorsOf(source: string, variables = {}, options: GraphOptions = {}, of: GraphQLSchema = built) {
  const app = new PorticoApp({ logger: false });
  new Graph(of, options).mount(app);
  const response = await testClient(app).post("/graphql", { body: { query: source, variables } });
  const { errors = [] } = response.json() as {
    errors?: { message: string; path: unknown; extensions: { code: string; errors?: readonly unknown[] } }[];
  };
  return errors.map(({ message, path, extensions: { code, errors: issues } }) => ({ message, path, code, issues }));
}

describe("an argument with a schema", () => {
  it("reaches the resolver as the output of the schema", async () => {
    expect(await data(built, '{ one(email: " Ada@Example.com ") day late: day(day: "2026-12-01") }')).toEqual({
      one: "ada@example.com",
      day: "2026-11-16T00:00:00.000Z",
      late: "2026-12-01T00:00:00.000Z",
    });
    expect(await data(built, '{ two(recipient: "A@b.co", count: 2) json(point: { x: 4 }) }')).toEqual({
      two: "a@b.co 3",
      json: 4,
    });
  });

  it.each(["portico", "graphql-js"] as const)(
    "is rejected with its path before the resolver runs (%s)",
    async (executor) => {
      calls = 0;

      expect(await errorsOf("query ($e: String!) { one(email: $e) }", { e: "top secret" }, { executor })).toEqual([
        {
          message: "The argument email does not match its schema",
          path: ["one"],
          code: "BAD_USER_INPUT",
          issues: [{ in: "arguments", path: ["email"], message: "must be an email address" }],
        },
      ]);
      expect(calls).toBe(0);
      expect(await errorsOf('mutation { add(email: "x") }', {}, { executor })).toMatchObject([
        { code: "BAD_USER_INPUT" },
      ]);
    },
  );

  it("is validated although the resolver does not read it", async () => {
    expect(denial(await ask(built, '{ unread(email: "x") }'))).toContain("unread");
    expect(await data(built, '{ unread(email: "a@b.co") }')).toEqual({ unread: "ran" });
  });

  it("is reported together with the others of its field, by the names that clients use", async () => {
    expect(await errorsOf('{ two(recipient: "x", count: 0) }')).toMatchObject([
      {
        message: "The arguments recipient and count do not match their schemas",
        issues: [
          { path: ["recipient"], message: "must be an email address" },
          { path: ["count"], message: "not positive" },
        ],
      },
    ]);
  });

  it("may be a list, and null and omitted values are not validated", async () => {
    expect(
      await data(
        built,
        '{ list(emails: ["A@b.co", null]) maybe none: maybe(a: null) both: maybe(a: "A@b.co", b: "C@d.co") }',
      ),
    ).toEqual({
      list: ["a@b.co", null],
      maybe: [null, "omitted"],
      none: [null, "omitted"],
      both: ["a@b.co", "c@d.co"],
    });
    expect(await errorsOf('{ list(emails: ["a@b.co", "x", null, "y"]) }')).toMatchObject([
      { issues: [{ path: ["emails", 1] }, { path: ["emails", 3] }] },
    ]);
    expect(await errorsOf('{ maybe(b: "x") }')).toMatchObject([{ issues: [{ path: ["b"] }] }]);
  });

  it("adds the path inside a JSON value", async () => {
    expect(await errorsOf('{ json(point: { x: "far" }) }')).toMatchObject([
      { issues: [{ in: "arguments", path: ["point", "x"], message: "not a number" }] },
    ]);
  });

  it("lists the first hundred issues and the number of the others", async () => {
    const [error] = await errorsOf("query ($e: [String]!) { list(emails: $e) }", { e: Array(150).fill("x") });

    expect(error?.issues).toHaveLength(101);
    expect(error?.issues?.at(-1)).toMatchObject({ message: "50 more issues are not listed" });
  });

  it("takes schemas of valibot and arktype, whose schemas are functions", async () => {
    expect(await data(built, '{ length(text: "abc") ark(count: 9) }')).toEqual({ length: 3, ark: 9 });
    expect(await errorsOf('{ length(text: "abcd") }')).toMatchObject([
      { code: "BAD_USER_INPUT", issues: [{ path: ["text"], message: "too long" }, { path: ["text"] }] },
    ]);
    expect(await errorsOf("{ ark(count: 10) }")).toMatchObject([
      { code: "BAD_USER_INPUT", issues: [{ path: ["count"] }] },
    ]);
  });

  it("appears in the schema as its scalar, with its default", () => {
    const text = printSchema(built);

    expect(text).toContain("one(email: String!): String!");
    expect(text).toContain('day(day: String! = "2026-11-16"): String!');
    expect(text).toContain("list(emails: [String]!): JSON!");
  });

  it("is validated in each operation of a batch", async () => {
    const app = new PorticoApp({ logger: false });
    new Graph(built, { transport: { batch: 2 } }).mount(app);
    const body = ["x", "A@b.co"].map((e) => ({ query: "query ($e: String!) { one(email: $e) }", variables: { e } }));
    const response = await testClient(app).post("/graphql", { body });

    expect(response.json()).toMatchObject([
      { errors: [{ extensions: { code: "BAD_USER_INPUT" } }] },
      { data: { one: "a@b.co" } },
    ]);
  });

  it("is validated when a subscription starts", async () => {
    const events: unknown[] = [];
    for await (const { data: event } of (await listen(built, "subscription { ticks(count: 1) }")) as AsyncIterable<{
      data: { ticks: number };
    }>)
      events.push(event.ticks);

    expect(events).toEqual([1, 2]);
    expect(await listen(built, "subscription { ticks(count: 4) }")).toMatchObject({
      errors: [{ message: "The argument count does not match its schema", originalError: { code: "BAD_USER_INPUT" } }],
    });
  });

  it("reaches a gate as the resolver receives it, and an anonymous caller learns nothing about it", async () => {
    const source = (address: string): string => `{ gated(email: "${address}") }`;
    const user = userNamed("ada");

    expect(await data(built, source("ADA@example.com"), { user })).toEqual({ gated: "ada@example.com" });
    expect(denial(await ask(built, source("bob@example.com"), { user }))).toBe("gated FORBIDDEN");
    expect((await ask(built, source("x"), { user })).errors).toMatchObject([
      { message: "The argument email does not match its schema", originalError: { code: "BAD_USER_INPUT" } },
    ]);
    expect(denial(await ask(built, source("x")))).toBe("gated UNAUTHENTICATED");
  });
});

describe("a field of an input object with a schema", () => {
  it("is validated at any depth", async () => {
    expect(await data(built, '{ order(input: { lines: [{ email: "A@b.co" }] }) }')).toEqual({
      order: { lines: [{ email: "a@b.co", note: null }], next: null, by: "web" },
    });
    expect(
      await errorsOf(
        '{ order(input: { by: "x", lines: [{ email: "x" }, { email: "a@b.co", note: "long" }], next: { email: "y" } }) }',
      ),
    ).toEqual([
      {
        message: "The argument input does not match its schema",
        path: ["order"],
        code: "BAD_USER_INPUT",
        issues: [
          { in: "arguments", path: ["input", "lines", 0, "email"], message: "must be an email address" },
          { in: "arguments", path: ["input", "lines", 1, "note"], message: "too long" },
          { in: "arguments", path: ["input", "next", "email"], message: "must be an email address" },
          { in: "arguments", path: ["input", "by"], message: "too short" },
        ],
      },
    ]);
  });

  it("is validated in an input object that contains itself", async () => {
    const tree = { name: "a", children: [{ name: "b", children: [{ name: "", children: [] }] }] };

    expect(await errorsOf("query ($tree: TreeInput!) { tree(tree: $tree) }", { tree })).toMatchObject([
      { issues: [{ path: ["tree", "children", 0, "children", 0, "name"], message: "empty" }] },
    ]);
  });

  it("is validated in a oneOf input only if it is the one", async () => {
    expect(await data(built, '{ key(by: { email: "A@b.co" }) }')).toEqual({ key: { email: "a@b.co" } });
    expect(await errorsOf('{ key(by: { id: "x" }) }')).toMatchObject([
      { issues: [{ path: ["by", "id"], message: "not a UUID" }] },
    ]);
  });
});

describe("a schema that cannot decide", () => {
  it("is refused if it is asynchronous, and its rejection is handled", async () => {
    expect((await ask(built, '{ slow(name: "a") }')).errors).toMatchObject([
      {
        message:
          "Query.slow(name:): its schema validates asynchronously, which arguments do not support. Make the check in the resolver",
      },
    ]);
    expect(await errorsOf('{ slow(name: "a") }')).toMatchObject([{ code: "INTERNAL_SERVER_ERROR" }]);
  });

  it("does not show clients the error that it throws", async () => {
    expect(await errorsOf('{ throwing(name: "a") }')).toMatchObject([
      { message: "Unexpected error", code: "INTERNAL_SERVER_ERROR" },
    ]);
  });
});

describe("a declaration that cannot work", () => {
  const withArg = (arg: ReturnType<typeof t.arg<typeof t.string>>) => () =>
    schema({ query: { x: field(t.string, { params: { a: arg } })(({ a }) => a) } });

  it("has a default that its schema rejects", () => {
    const short = z.string().max(3, "too long");

    expect(withArg(t.string(short, "long"))).toThrow(ConfigurationError);
    expect(withArg(t.string(short, "long"))).toThrow(
      "Query.x(a:) has a default that does not match its schema: too long",
    );
    expect(withArg(t.arg(t.string(short), { default: "abc" }))).not.toThrow();
    const Input = t.input("Input", { lines: t.list(t.string(short)) });
    const inner = t.arg(Input, { default: { lines: ["a", "long"] } });
    expect(() => schema({ query: { x: field(t.json, { params: { inner } })(({ inner: value }) => value) } })).toThrow(
      "Query.x(inner:) has a default that does not match its schema: lines.1: too long",
    );
  });

  it("has a schema in the type of a field", () => {
    const sentence = "Query.x: has a type with a schema, which is for arguments. Use the scalar without the schema";

    // @ts-expect-error -- a type with a schema is not an output type
    expect(() => schema({ query: { x: field(t.string(email))(() => "a" as never) } })).toThrow(sentence);
    expect(() => schema({ query: { x: field(t.list(t.string(email)))(() => []) } })).toThrow(sentence);
    expect(() => schema({ query: { x: field(t.nullable(t.string(email)))(() => null) } })).toThrow(sentence);
  });

  it("has a schema in an argument of a directive", () => {
    const owner = t.directive("owner", { on: ["FIELD_DEFINITION"], args: { email: t.string(email) } });

    expect(() =>
      schema({ query: { x: field(t.string, { directives: [owner({ email: "a@b.co" })] })(() => "a") } }),
    ).toThrow(new ResolverError("@owner(email:)", "has a schema, which an argument of a directive cannot have"));
  });
});
