import { ConfigurationError } from "portico";
import {
  field,
  GraphQLDenied,
  loader,
  mutation,
  type ObjectType,
  type Of,
  object,
  ResolverError,
  schema,
  subscription,
  t,
} from "portico/graphql";
import { describe, expect, it, vi } from "vitest";
import { ask, data, denial, httpContext, listen, userNamed } from "../ask.ts";

interface OrderRow {
  readonly id: string;
  readonly buyer: string;
}
const ada = userNamed("ada", ["audit"]);
const bob = userNamed("bob");
const orders: OrderRow[] = [
  { id: "1", buyer: "ada" },
  { id: "2", buyer: "bob" },
  { id: "3", buyer: "ada" },
];

describe("auth: true", () => {
  const secret = vi.fn<() => string>(() => "42");
  const built = schema({
    query: { secret: field(t.nullable(t.string), { auth: true })(() => secret()), open: field(t.int)(() => 1) },
  });

  it("[FLD-03] denies that field alone to anonymous callers, and its resolver does not run", async () => {
    const result = await ask(built, "{ secret open }");

    expect(result.data).toEqual({ secret: null, open: 1 });
    expect(denial(result)).toBe("secret UNAUTHENTICATED");
    expect(result.errors?.[0]?.originalError).toBeInstanceOf(GraphQLDenied);
    expect(secret).not.toHaveBeenCalled();
  });

  it("[FLD-04] allows every signed-in user", async () => {
    expect(await data(built, "{ secret }", { user: bob })).toEqual({ secret: "42" });
  });

  it("treats every caller as anonymous, without an error, if no authentication is mounted", async () => {
    const who = schema({
      query: { who: field(t.string)(({ ctx }) => `${ctx.user.constructor.name} ${ctx.user.isAuthenticated}`) },
    });

    expect(await data(who, "{ who }")).toEqual({ who: "AnonymousUser false" });
  });
});

describe("a callable", () => {
  it("[FLD-05] receives the user", async () => {
    const gate = vi.fn<(user: unknown) => boolean>(() => true);
    const built = schema({
      query: { a: field(t.boolean, { auth: (user) => gate(user) })(({ ctx }) => ctx.user === ada) },
    });

    expect(await data(built, "{ a }", { user: ada })).toEqual({ a: true });

    expect(gate.mock.calls).toEqual([[ada]]);
    expect(gate.mock.calls[0]?.[0]).toBe(ada);
  });

  it("[FLD-06] decides: true allows, false denies", async () => {
    const built = schema({
      query: { log: field(t.nullable(t.string), { auth: (user) => user.hasPermission("audit") })(() => "entries") },
    });

    expect(await data(built, "{ log }", { user: ada })).toEqual({ log: "entries" });
    expect(denial(await ask(built, "{ log }", { user: bob }))).toBe("log FORBIDDEN");
  });

  it("[FLD-07] may be async, and is awaited before the resolver runs", async () => {
    const run = vi.fn<() => string>(() => "");
    const built = schema({
      query: {
        no: field(t.nullable(t.string), { auth: async () => false })(() => run()),
        yes: field(t.string, { auth: async () => true })(() => "ok"),
      },
    });

    const result = await ask(built, "{ no yes }", { user: ada });

    expect(result.data).toEqual({ no: null, yes: "ok" });
    expect(denial(result)).toBe("no FORBIDDEN");
    expect(run).not.toHaveBeenCalled();
  });

  it("[FLD-13] is never called for anonymous callers", async () => {
    const gate = vi.fn<() => boolean>(() => true);
    const Order: ObjectType<OrderRow> = object("Order", {
      id: field(t.nullable(t.id), { auth: (_user, { parent }: Of<OrderRow>) => gate() && parent.id !== "" }) as never,
    });
    const built = schema({
      query: {
        a: field(t.nullable(t.string), { auth: () => gate() })(() => ""),
        order: field(Order)(() => orders[0] as OrderRow),
      },
    });

    expect(denial(await ask(built, "{ a order { id } }"))).toBe("a UNAUTHENTICATED, order.id UNAUTHENTICATED");

    expect(gate).not.toHaveBeenCalled();
  });

  it.each([
    ["a truthy object", {}],
    ["1", 1],
    ["a text", "yes"],
    ["nothing", undefined],
  ])("allows access only with true: %s denies it", async (_, verdict) => {
    const built = schema({
      query: { a: field(t.nullable(t.string), { auth: (() => verdict) as () => boolean })(() => "") },
    });
    const later = schema({
      query: { a: field(t.nullable(t.string), { auth: (async () => verdict) as () => Promise<boolean> })(() => "") },
    });

    expect(denial(await ask(built, "{ a }", { user: ada }))).toBe("a FORBIDDEN");
    expect(denial(await ask(later, "{ a }", { user: ada }))).toBe("a FORBIDDEN");
  });

  it("that throws denies access to all fields that share it", async () => {
    const run = vi.fn<() => string>(() => "");
    const rules = vi.fn<() => boolean>(() => {
      throw new Error("the rules are away");
    });
    const auth = (): boolean => rules();
    const built = schema({
      query: {
        a: field(t.nullable(t.string), { auth })(() => run()),
        b: field(t.nullable(t.string), { auth })(() => run()),
      },
    });

    const result = await ask(built, "{ a b }", { user: ada });

    expect(denial(result)).toBe("a FORBIDDEN, b FORBIDDEN");
    expect(rules).toHaveBeenCalledOnce();
    expect(run).not.toHaveBeenCalled();
  });
});

describe("a callable of the object", () => {
  it("[FLD-12] receives the parent, the arguments and the context", async () => {
    const seen = vi.fn<(given: object) => boolean>(() => true);
    const auth = (_user: unknown, given: Of<OrderRow>): boolean => seen(given);
    const Order: ObjectType<OrderRow> = object("Order", {
      note: field(t.string, {
        params: { n: t.arg(t.int, { default: 2, name: "count" }), q: t.nullable(t.string), o: t.optional(t.int) },
        auth,
      })(() => ""),
    });
    const built = schema({ query: { order: field(Order)(() => orders[0] as OrderRow) } });
    const ctx = httpContext({ user: ada });

    await data(built, "{ order { note } }", { ctx });

    expect(seen.mock.calls).toEqual([[{ parent: orders[0], args: { n: 2, q: null }, ctx }]]);
  });

  it("can restrict users to their own objects", async () => {
    const Order: ObjectType<OrderRow> = object("Order", {
      id: t.id,
      buyer: field(t.nullable(t.string), {
        auth: (user, { parent }: Of<OrderRow>) => parent.buyer === user.identity,
      }) as never,
    });
    const built = schema({ query: { orders: field(t.list(Order))(() => orders) } });

    const result = await ask(built, "{ orders { id buyer } }", { user: ada });

    expect(result.data).toEqual({
      orders: [
        { id: "1", buyer: "ada" },
        { id: "2", buyer: null },
        { id: "3", buyer: "ada" },
      ],
    });
    expect(denial(result)).toBe("orders.1.buyer FORBIDDEN");
  });
});

describe("the number of calls of a gate", () => {
  const ofUser = vi.fn<(user: unknown) => boolean>((_user) => true);
  const ofUserLater = vi.fn<(user: unknown) => Promise<boolean>>(async (_user) => true);
  const ofObject = vi.fn<(user: unknown, given: unknown) => boolean>((_user, _given) => true);
  // A spy has no parameters of its own to count.
  const gates = {
    user: (user: unknown) => ofUser(user),
    later: (user: unknown) => ofUserLater(user),
    object: (user: unknown, given: Of<OrderRow>) => ofObject(user, given),
  };
  const Order: ObjectType<OrderRow> = object("Order", {
    a: field(t.id, { auth: gates.user })(({ parent }) => parent.id),
    b: field(t.id, { auth: gates.user })(({ parent }) => parent.id),
    c: field(t.id, { auth: gates.later })(({ parent }) => parent.id),
    d: field(t.id, { auth: gates.object })(({ parent }) => parent.id),
  });
  const built = schema({ query: { orders: field(t.list(Order))(() => orders) } });

  it("[FLD-14] is one per operation if it takes only the user, and one per object if it takes the object", async () => {
    await data(built, "{ orders { a b c d } }", { user: ada });

    expect(ofUser).toHaveBeenCalledOnce();
    expect(ofUserLater).toHaveBeenCalledOnce();
    expect(ofObject).toHaveBeenCalledTimes(3);

    await data(built, "{ orders { a } }", { user: ada });

    expect(ofUser).toHaveBeenCalledTimes(2);
  });
});

it("fails gated fields with SERVICE_UNAVAILABLE while the caller cannot be authenticated, and returns the others", async () => {
  const gate = vi.fn<() => boolean>(() => true);
  const built = schema({
    query: {
      a: field(t.nullable(t.int), { auth: true })(() => 1),
      b: field(t.nullable(t.int), { auth: () => gate() })(() => 1),
      open: field(t.int)(() => 1),
    },
  });

  const result = await ask(built, "{ a b open }", { failure: new Error("the session store is down") });

  expect(result.data).toEqual({ a: null, b: null, open: 1 });
  expect(denial(result)).toBe("a SERVICE_UNAVAILABLE, b SERVICE_UNAVAILABLE");
  expect(gate).not.toHaveBeenCalled();
});

it("checks the gate of a mutation before its dependencies open, and of a subscription before it starts", async () => {
  const begin = vi.fn<() => void>();
  const built = schema({
    query: { a: field(t.int)(() => 1) },
    mutation: { add: mutation(t.nullable(t.int), { auth: true })(() => 1) },
    subscription: {
      ticks: subscription(t.int, { auth: (user) => user.hasPermission("tick") })(async function* () {
        begin();
        yield 1;
      }),
    },
  });

  expect(denial(await ask(built, "mutation { add }"))).toBe("add UNAUTHENTICATED");
  expect(denial((await listen(built, "subscription { ticks }", httpContext({ user: bob }))) as never)).toBe(
    "ticks FORBIDDEN",
  );
  expect(begin).not.toHaveBeenCalled();
});

it("GraphQLDenied has its code and message", () => {
  const denied = new GraphQLDenied("FORBIDDEN");

  expect(denied).toMatchObject({
    code: "FORBIDDEN",
    message: "Permission denied",
    extensions: { code: "FORBIDDEN" },
  });
});

describe("a gate with an unreliable number of parameters", () => {
  const make = field as unknown as (type: unknown, options: unknown) => unknown;

  it.each([
    ["a default", (user: unknown, given = {}) => [user, given]],
    ["a default for the user", (user = {}) => user],
    ["a rest parameter", (...all: unknown[]) => all],
    ["a third parameter", (a: unknown, b: unknown, c: unknown) => [a, b, c]],
  ])("is rejected: %s", (_, auth) => {
    expect(() => make(t.string, { auth })).toThrow(ResolverError);
  });

  it("is rejected if the option is present but undefined", () => {
    const gates: { admin?: () => boolean } = {};

    expect(() => make(t.string, { auth: gates.admin })).toThrow(ConfigurationError);
  });
});

it("shares loaders and gate verdicts only within one operation", async () => {
  const calls = vi.fn<(keys: readonly string[]) => void>();
  const names = loader((keys: readonly string[]) => {
    calls(keys);
    return keys.map((key) => key.toUpperCase());
  });
  const Order: ObjectType<OrderRow> = object("Order", {
    who: field(t.string)(({ ctx, parent }) => names.load(ctx, parent.buyer)),
  });
  const built = schema({ query: { orders: field(t.list(Order))(() => orders) } });

  await data(built, "{ orders { who } }");
  await data(built, "{ orders { who } }");

  expect(calls.mock.calls).toEqual([[["ada", "bob"]], [["ada", "bob"]]]);
});
