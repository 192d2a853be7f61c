import {
  authorized,
  type BaseContext,
  type Caller,
  type Condition,
  type CurrentUser,
  column,
  Depend,
  every,
  exists,
  type Gate,
  isEqual,
  isIn,
  isInRange,
  not,
  PorticoApp,
  type RoutePlace,
  Router,
  rule,
  some,
} from "portico";
import { useAuth } from "portico/auth";
import { connection, field, mutation, type ObjectType, type Of, object, subscription, t } from "portico/graphql";
import { CursorPagination } from "portico/pagination";
import { describe, expectTypeOf, it } from "vitest";
import * as z from "zod";

interface Row {
  readonly id: string;
  readonly organisation_id: string | null;
}
declare const row: Row | undefined;
const app = new PorticoApp();
const visible = rule<Row>({
  name: "row.visible",
  allows: (user, { organisation_id }, { ctx }) => {
    expectTypeOf(user).toEqualTypeOf<CurrentUser>();
    expectTypeOf(ctx.user).toEqualTypeOf<CurrentUser>();
    return organisation_id === user.identity;
  },
  where: (user) => isIn("organisation_id", [user.identity]),
});

describe("auth on a route", () => {
  it("narrows the user for every form that requires one", () => {
    app.get("/", { auth: true }, ({ user }) => expectTypeOf(user).toEqualTypeOf<CurrentUser>());
    app.get("/", { auth: (user) => user.hasPermission("x") }, ({ user, ctx }) => {
      expectTypeOf(user).toEqualTypeOf<CurrentUser>();
      expectTypeOf(ctx.user).toEqualTypeOf<CurrentUser>();
    });
    app.get(
      "/",
      {
        auth: async (user, { path, request, ctx }) => {
          expectTypeOf(user).toEqualTypeOf<CurrentUser>();
          expectTypeOf(ctx.user).toEqualTypeOf<CurrentUser>();
          expectTypeOf(path["id"]).toEqualTypeOf<string | undefined>();
          return request.method !== "";
        },
      },
      ({ user }) => expectTypeOf(user).toEqualTypeOf<CurrentUser>(),
    );
    app.get("/", { auth: every(useAuth({ required: false }), (user) => user.isAuthenticated) }, ({ user }) =>
      expectTypeOf(user).toEqualTypeOf<CurrentUser>(),
    );
    app.get("/", { auth: some(true, useAuth({ scopes: ["jwt"] })) }, ({ user }) =>
      expectTypeOf(user).toEqualTypeOf<CurrentUser>(),
    );
  });

  it("types the path and the query of a gate like those that the handler receives", () => {
    const path = z.object({ id: z.coerce.number() });
    const query = z.object({ day: z.coerce.date() });
    app.get(
      "/:shop/:id",
      {
        path,
        query,
        auth: (_user, place) => {
          expectTypeOf(place.path).toEqualTypeOf<{ id: number }>();
          expectTypeOf(place.query).toEqualTypeOf<{ day: Date }>();
          expectTypeOf(place.request.params).toEqualTypeOf<{ id: number }>();
          // @ts-expect-error: the URL has the values as they were sent
          void place.request.url;
          // @ts-expect-error: the body is read after the gate
          void place.request.json;
          return true;
        },
      },
      ({ path: { id } }) => expectTypeOf(id).toEqualTypeOf<number>(),
    );
    app.get("/:shop", { auth: (_user, { path: { shop } }) => shop.startsWith("a") }, () => "");
    app.socket("/:id", { path, auth: (_user, place) => place.path.id > 0 }, () => {});
    // The schema of a route may change a parameter of the router.
    new Router({ prefix: "/:shop", auth: (_user, place) => typeof place.path["shop"] === "string" });
    const gate = (_user: CurrentUser, place: RoutePlace): boolean => place.path["id"] === 1;
    app.get("/:id", { path, auth: gate }, () => "").get("/:id", { auth: every(true, gate) }, () => "");
  });

  it("leaves the user wide for every form that may accept an anonymous caller", () => {
    app.get("/", { auth: false }, ({ user }) => expectTypeOf(user).toEqualTypeOf<Caller>());
    app.get("/", { auth: not(true) }, ({ user }) => expectTypeOf(user).toEqualTypeOf<Caller>());
    app.get("/", { auth: some(true, useAuth({ required: false })) }, ({ user }) =>
      expectTypeOf(user).toEqualTypeOf<Caller>(),
    );
    app.get("/", { auth: every(not(true), useAuth({ required: false })) }, ({ user }) =>
      expectTypeOf(user).toEqualTypeOf<Caller>(),
    );
  });

  it("rejects a rule, which needs an object, and functions with another result or place", () => {
    // @ts-expect-error a rule decides about an object
    app.get("/", { auth: visible }, () => 1);
    // @ts-expect-error also in a combination
    app.get("/", { auth: every(true, not(visible)) }, () => 1);
    // @ts-expect-error a verdict is a boolean
    app.get("/", { auth: (user) => user.identity }, () => 1);
    // @ts-expect-error a route has no parent
    app.get("/", { auth: every((_user, { parent }: Of<Row>) => parent.id === "") }, () => 1);
    // @ts-expect-error and a gate is not a text
    app.get("/", { auth: "jwt" }, () => 1);
    // @ts-expect-error nor is it nothing
    every();
    app.get("/", { auth: every((_user, { path }: RoutePlace) => path["id"] === "") }, () => 1);
  });

  it("is inherited from a router, and dropped by false", () => {
    const router = new Router({ prefix: "/x", auth: (user) => user.identity !== "" });
    router.get("/", ({ user }) => expectTypeOf(user).toEqualTypeOf<CurrentUser>());
    router.get("/", { summary: "" }, ({ user }) => expectTypeOf(user).toEqualTypeOf<CurrentUser>());
    router.get("/", { auth: useAuth({ required: false }) }, ({ user }) =>
      expectTypeOf(user).toEqualTypeOf<CurrentUser>(),
    );
    router.get("/", { auth: false }, ({ user }) => expectTypeOf(user).toEqualTypeOf<Caller>());
    router.socket("/s", ({ user }) => void expectTypeOf(user).toEqualTypeOf<CurrentUser>());
    new Router().get("/", ({ user }) => expectTypeOf(user).toEqualTypeOf<Caller>());
    app.socket("/s", { auth: true }, ({ user }) => void expectTypeOf(user).toEqualTypeOf<CurrentUser>());
    app.socket("/s", ({ user }) => void expectTypeOf(user).toEqualTypeOf<Caller>());
  });
});

describe("auth on a field", () => {
  it("narrows ctx.user, and takes the parent from a rule", () => {
    const Thing: ObjectType<Row> = object("Thing", {
      a: field(t.id, { auth: useAuth() })(({ ctx }) => ctx.user.identity),
      b: field(t.id, { auth: visible })(({ ctx, parent }) => {
        expectTypeOf(ctx.user).toEqualTypeOf<CurrentUser>();
        expectTypeOf(parent).toEqualTypeOf<Row>();
        return parent.id;
      }),
      c: field(t.id, { auth: every(visible, (user) => user.isAuthenticated) })(({ parent }) => parent.id),
      d: field(t.id, { auth: not(visible) })(({ ctx, parent }) => {
        expectTypeOf(ctx.user).toEqualTypeOf<Caller>();
        return parent.id;
      }),
      e: field(t.id, { auth: useAuth({ required: false }) })(({ ctx }) => {
        expectTypeOf(ctx.user).toEqualTypeOf<Caller>();
        return "";
      }),
    });
    const Other: ObjectType<{ other: string }> = object("Other", {
      // @ts-expect-error the rule is about another object
      a: field(t.id, { auth: visible })(() => ""),
    });
    void [Thing, Other];
    mutation(t.id, { auth: useAuth() })(({ ctx }) => ctx.user.identity);
    subscription(t.id, { auth: useAuth() })(async function* ({ ctx }) {
      expectTypeOf(ctx.user).toEqualTypeOf<CurrentUser>();
      yield ctx.user.identity;
    });
    connection(Thing, new CursorPagination(), {
      auth: useAuth(),
      cursorScope: ({ ctx }) => ({ user: ctx.user.identity }),
    })(({ ctx }) => {
      expectTypeOf(ctx.user).toEqualTypeOf<CurrentUser>();
      return [];
    });
    // @ts-expect-error a subscription has no object
    subscription(t.id, { auth: visible });
    // @ts-expect-error the resolver must not return null, although the field is nullable in the schema
    field(t.id, { auth: true })(() => null);
    // @ts-expect-error a field cannot be made nullable here: use t.nullable
    field(t.id, { nullable: true });
  });

  it("is checked on a type against the type's own objects", () => {
    const A: ObjectType<Row> = object("A", { id: t.id }, { auth: every(visible, true) });
    const B: ObjectType<Row> = object(
      "B",
      { id: t.id },
      { auth: (user, { parent, ctx }) => parent.id === user.identity && ctx.user === user },
    );
    // @ts-expect-error the rule is about other objects
    const C: ObjectType<{ other: string }> = object("C", { other: t.string }, { auth: visible });
    void [A, B, C];
  });
});

describe("a rule", () => {
  it("names columns of its rows in where", () => {
    rule<Row>({
      name: "x",
      allows: () => true,
      // @ts-expect-error there is no such column
      where: () => isIn("organisation", []),
    });
    const both = every(isEqual("id", "1"), not(isIn("organisation_id", [])));
    expectTypeOf(both).toEqualTypeOf<Condition<"id" | "organisation_id">>();
    const pair = exists({ from: "members", on: { org: "organisation_id", user: "id" } });
    expectTypeOf(pair).toEqualTypeOf<Condition<"id" | "organisation_id">>();
    expectTypeOf(isInRange("id", { lt: column("organisation_id") })).toEqualTypeOf<typeof pair>();
    // @ts-expect-error text has no ranges
    isInRange("id", { gte: "a" });
    rule<Row>({
      name: "x",
      allows: () => true,
      // @ts-expect-error there is no such column to compare with
      where: () => isEqual("id", column("organisation")),
    });
    // @ts-expect-error a gate and a condition do not mix
    every(isEqual("id", "1"), true);
  });

  it("receives any caller if it is for anonymous callers too", () => {
    const open = rule<Row>({
      name: "x",
      anonymous: true,
      allows: (user, _row, { ctx }) => {
        expectTypeOf(user).toEqualTypeOf<Caller>();
        expectTypeOf(ctx.user).toEqualTypeOf<Caller>();
        return true;
      },
    });
    expectTypeOf(open).toExtend<Gate<false, any, { readonly parent: Row }>>();
    // @ts-expect-error a rule has a name
    rule<Row>({ allows: () => true });
  });

  it("types ctx.authorize and ctx.can", () => {
    app.get("/", { auth: true }, async ({ ctx }) => {
      expectTypeOf(await ctx.authorize(visible, row)).toEqualTypeOf<Row>();
      expectTypeOf(await ctx.can(not(visible), row)).toEqualTypeOf<boolean>();
      // @ts-expect-error the rule is about another object
      await ctx.authorize(visible, { other: 1 });
      // @ts-expect-error only these two
      await ctx.authorize(visible, row, { status: 401 });
    });
    app.get(
      "/",
      { paginated: { strategy: "page_number", item: z.object({ id: z.string() }), rule: visible } },
      ({ response }) => response.paginate([{ id: "1" }]),
    );
  });
});

describe("authorized", () => {
  const find = async (id: string): Promise<Row | undefined> => ({ ...(row as Row), id });
  const visible = rule<Row>({ name: "row.visible", allows: () => true });
  const work = Depend(() => ({ units: 1 }));

  it("knows the path in a route, and gives the handler the object", () => {
    app.get(
      "/rows/:id",
      {
        params: {
          row: authorized(({ path, ctx }) => {
            expectTypeOf(path).toEqualTypeOf<{ readonly id: string }>();
            expectTypeOf(ctx).toEqualTypeOf<BaseContext>();
            return find(path.id);
          }, visible),
        },
      },
      ({ row }) => expectTypeOf(row).toEqualTypeOf<Row>(),
    );
    const rows = new Router({ prefix: "/organisations/:organisation" });
    rows.get(
      "/rows/:id",
      { params: { row: authorized(({ path }) => find(path.organisation + path.id), visible), work } },
      ({ row, work }) => expectTypeOf([row, work]).toEqualTypeOf<(Row | { units: number })[]>(),
    );
  });

  it("gives the load function its own parameters", () => {
    app.get(
      "/rows/:id",
      {
        params: {
          row: authorized({ work })(({ path, work }) => {
            expectTypeOf(work.units).toEqualTypeOf<number>();
            return find(path.id);
          }, visible),
        },
      },
      ({ row }) => row.id,
    );
  });

  it("does not fit a place without the values that it needs", () => {
    const byId = authorized(({ path }: { path: { id: string } }) => find(path.id), visible);
    const byNumber = authorized(({ path }: { path: { id: number } }) => find(String(path.id)), visible);
    const path = z.object({ id: z.coerce.number() });
    app.get("/rows/:id", { params: { row: byId } }, ({ row }) => row.id);
    app.get("/rows/:id", { path, params: { row: byNumber } }, ({ row }) => row.id);
    // @ts-expect-error the URL has no id
    app.get("/rows/:row", { params: { row: byId } }, ({ row }) => row.id);
    // @ts-expect-error the schema returns a number
    app.get("/rows/:id", { path, params: { row: byId } }, ({ row }) => row.id);
    // @ts-expect-error the path is a text
    app.get("/rows/:id", { params: { row: byNumber } }, ({ row }) => row.id);
    // @ts-expect-error a typo
    app.get("/rows/:id", { params: { row: authorized(({ path }) => find(path.ids), visible) } }, ({ row }) => row.id);
    // @ts-expect-error a socket outlives the answer
    app.socket("/rows/:id", { params: { row: byId } }, () => {});
  });

  it("is checked against the arguments of a field", () => {
    const Type: ObjectType<Row> = object("Row", { id: t.id });
    const byId = authorized(({ args }: { args: { id: string } }) => find(args.id), visible);
    field(Type, { params: { id: t.id, row: byId } })(({ id, row }) => {
      expectTypeOf(id).toEqualTypeOf<string>();
      expectTypeOf(row).toEqualTypeOf<Row>();
      return row;
    });
    // @ts-expect-error there is no argument id
    field(Type, { params: { row: byId } })(({ row }) => row);
    // @ts-expect-error the argument is a number
    mutation(Type, { params: { id: t.int, row: byId } })(({ row }) => row);
    const byPath = authorized(({ path }: { path: { id: string } }) => find(path.id), visible);
    // @ts-expect-error a field has no path
    field(Type, { params: { row: byPath } })(({ row }) => row);
  });

  it("needs a rule about such an object", () => {
    const others = rule<{ readonly other: string }>({ name: "other", allows: () => true });
    // @ts-expect-error the object has no such property
    authorized(() => find("1"), others);
    // @ts-expect-error the object has no such property
    authorized(() => find("1"), visible, { may: others });
  });
});
