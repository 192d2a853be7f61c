import { type } from "arktype";
import type { FastifyReply, FastifyRequest } from "fastify";
import {
  type AnonymousUser,
  type AuthScope,
  type BaseContext,
  type Caller,
  currentContext,
  Depend,
  env,
  type Gate,
  HttpContext,
  type Outcome,
  PorticoApp,
  type PorticoRequest,
  provide,
  Router,
  type Socket,
  type TypedResponse,
  topic,
  type UserProtocol,
  WebSocketContext,
} from "portico";
import type { RawQuery } from "portico/types";
import * as v from "valibot";
import { describe, expectTypeOf, it } from "vitest";
import { z } from "zod";

const app = new PorticoApp();
declare const signedIn: Gate<true>;
declare const byKey: Gate<true, "apikey">;
declare const anybody: Gate<false>;
declare const anyGate: Gate;
declare const flag: boolean;

describe("schemas", () => {
  it("of zod type body, query and path by their output", () => {
    app.post(
      "/books/:id",
      {
        body: z.object({ title: z.string(), tags: z.array(z.string()).default([]) }),
        query: z.object({ dry: z.coerce.boolean() }),
        path: z.object({ id: z.coerce.number() }),
      },
      ({ body, query, path, request }) => {
        expectTypeOf(body).toEqualTypeOf<{ title: string; tags: string[] }>();
        expectTypeOf(query).toEqualTypeOf<{ dry: boolean }>();
        expectTypeOf(path).toEqualTypeOf<{ id: number }>();
        expectTypeOf(request.body).toEqualTypeOf<{ title: string; tags: string[] }>();
        expectTypeOf(request.query).toEqualTypeOf<{ dry: boolean }>();
        expectTypeOf(request.params).toEqualTypeOf<{ id: number }>();
      },
    );
  });
  it("of valibot do", () => {
    app.put(
      "/v/:id",
      { body: v.object({ n: v.number(), s: v.optional(v.string(), "x") }), query: v.object({ q: v.string() }) },
      ({ body, query }) => {
        expectTypeOf(body).toEqualTypeOf<{ n: number; s: string }>();
        expectTypeOf(query).toEqualTypeOf<{ q: string }>();
      },
    );
  });
  it("of arktype do", () => {
    app.patch(
      "/a/:id",
      { body: type({ n: "number", "s?": "string" }), path: type({ id: "string.numeric.parse" }) },
      ({ body, path }) => {
        expectTypeOf(body).toEqualTypeOf<{ n: number; s?: string }>();
        expectTypeOf(path).toEqualTypeOf<{ id: number }>();
      },
    );
  });
  it("are needed: an unchecked body is unknown, an unchecked query is raw", () => {
    app.post("/", ({ body, query }) => {
      expectTypeOf(body).toEqualTypeOf<unknown>();
      expectTypeOf(query).toEqualTypeOf<RawQuery>();
    });
    // @ts-expect-error an unchecked body is unknown
    app.post("/", ({ body }: { body: { title: string } }) => body.title);
  });
});

describe("the path", () => {
  it("types its parameters, those of the prefix included", () => {
    app.get("/shops/:shop/books/:id", ({ path }) =>
      expectTypeOf(path).toEqualTypeOf<{ readonly shop: string; readonly id: string }>(),
    );
    app.get("/files/:name(^\\d+).png/*", ({ path }) =>
      expectTypeOf(path).toEqualTypeOf<{ readonly name: string; readonly "*": string }>(),
    );
    app.get("/plain", ({ path }) => expectTypeOf(path).toEqualTypeOf<{}>());
    app.get("/pages/:page?", ({ path }) => expectTypeOf(path.page).toEqualTypeOf<string | undefined>());
    new Router({ prefix: "/shops/:shop" }).get("/books/:id", ({ path }) => {
      expectTypeOf(path).toEqualTypeOf<{ readonly shop: string; readonly id: string }>();
    });
    // @ts-expect-error not in the path
    app.get("/books/:id", ({ path }) => path.book);
  });
});

describe("dependencies", () => {
  const client = async function* () {
    yield { q: 1 };
  };
  const shelf = provide({ c: Depend(client), http: HttpContext })(({ c, http, ctx }) => {
    expectTypeOf(c).toEqualTypeOf<{ q: number }>();
    expectTypeOf(http).toEqualTypeOf<HttpContext>();
    expectTypeOf(ctx).toEqualTypeOf<BaseContext>();
    return new Map<string, number>();
  });
  it("are what they resolve to or yield", () => {
    const params = {
      shelf: Depend(shelf),
      plain: Depend(() => "s"),
      later: Depend(async () => 1),
      generated: Depend(function* () {
        yield true;
      }),
      http: HttpContext,
      ctx: HttpContext,
    };
    app.get("/", { params }, ({ shelf, plain, later, generated, http }) => {
      expectTypeOf(shelf).toEqualTypeOf<Map<string, number>>();
      expectTypeOf(plain).toEqualTypeOf<string>();
      expectTypeOf(later).toEqualTypeOf<number>();
      expectTypeOf(generated).toEqualTypeOf<boolean>();
      expectTypeOf(http).toEqualTypeOf<HttpContext>();
    });
  });
  it("see the context and its outcome", () => {
    provide(async function* ({ ctx }) {
      expectTypeOf(ctx.outcome).toEqualTypeOf<Outcome>();
      expectTypeOf(ctx.user).toEqualTypeOf<Caller>();
      yield 1;
    });
  });
  it("must be declared, as what they are, under a name that is free", () => {
    // @ts-expect-error undeclared parameter
    app.get("/x", { params: { shelf: Depend(shelf) } }, ({ shelv }) => shelv);
    // @ts-expect-error undeclared parameter, without options
    app.get("/x", ({ shelf }) => shelf);
    // @ts-expect-error neither a dependency nor a context
    app.get("/x", { params: { limit: 10 } }, () => 1);
    // @ts-expect-error a handler has `user` already
    app.get("/x", { params: { user: Depend(() => 1) } }, () => 1);
    // @ts-expect-error a dependency is no context
    provide({ ctx: Depend(() => 1) });
  });
  it("fit a handler that is written down elsewhere, or do not", () => {
    const read = ({ shelf, user }: { shelf: Map<string, number>; user: UserProtocol }) => [shelf, user.displayName];
    app.get("/shelf", { auth: signedIn, params: { shelf: Depend(shelf) } }, read);
    // @ts-expect-error no shelf here
    app.get("/shelf", { auth: signedIn }, read);
  });
});

describe("identify", () => {
  const [request, reply] = [{} as FastifyRequest<{ Body: { title: string } }>, {} as FastifyReply];

  it("returns the context, with the user that its auth lets through", async () => {
    expectTypeOf(await app.identify(request, reply)).toEqualTypeOf<HttpContext>();
    expectTypeOf((await app.identify(request, reply, { auth: true })).user).toEqualTypeOf<UserProtocol>();
    expectTypeOf((await app.identify(request, reply, { auth: signedIn })).user).toEqualTypeOf<UserProtocol>();
    expectTypeOf((await app.identify(request, reply, { auth: anybody })).user).toEqualTypeOf<Caller>();
    expectTypeOf(
      (await app.identify(request.raw, reply.raw, { auth: (user) => user.hasPermission("read") })).user,
    ).toEqualTypeOf<UserProtocol>();
    // @ts-expect-error not an option
    await app.identify(request, reply, { atuh: true });
    // @ts-expect-error not a request
    await app.identify({}, reply);
  });
});

describe("gates", () => {
  it("narrow the user and the scope", () => {
    app.get("/", ({ user, request, ctx }) => {
      expectTypeOf(user).toEqualTypeOf<Caller>();
      expectTypeOf(ctx.user).toEqualTypeOf<UserProtocol | AnonymousUser>();
      expectTypeOf(request.scope.auth).toEqualTypeOf<AuthScope | null>();
    });
    app.get("/", { auth: signedIn }, ({ user, request, ctx, context }) => {
      expectTypeOf(user).toEqualTypeOf<UserProtocol>();
      expectTypeOf(request.user).toEqualTypeOf<UserProtocol>();
      expectTypeOf(request.scope.auth).toEqualTypeOf<AuthScope>();
      expectTypeOf(ctx.user).toEqualTypeOf<UserProtocol>();
      expectTypeOf(context).toEqualTypeOf<HttpContext<UserProtocol>>();
    });
    app.get("/", { auth: byKey }, ({ request }) => expectTypeOf(request.scope.auth).toEqualTypeOf<"apikey">());
    app.get("/", { auth: anybody }, ({ user, request }) => {
      expectTypeOf(user).toEqualTypeOf<Caller>();
      expectTypeOf(request.scope.auth).toEqualTypeOf<AuthScope | null>();
    });
    app.get("/", { auth: anyGate }, ({ user }) => expectTypeOf(user).toEqualTypeOf<Caller>());
    const hoisted = { auth: signedIn, tags: ["books"] };
    app.post("/", hoisted, ({ user }) => expectTypeOf(user).toEqualTypeOf<UserProtocol>());
  });
  it("are gates, and no option can be misspelt", () => {
    // @ts-expect-error a gate is not a text
    app.get("/x", { auth: "jwt" }, () => 1);
    // @ts-expect-error misspelt
    app.get("/x", { auht: signedIn }, () => 1);
    // @ts-expect-error misspelt beside a good one
    app.get("/x", { auth: signedIn, parms: {} }, () => 1);
    const [params, body] = [{ n: Depend(() => 1) }, z.object({})];
    // @ts-expect-error misspelt with every part in use
    app.post("/x", { auth: signedIn, params, body, respnse: z.string() }, ({ n }) => n);
    // @ts-expect-error a gate is no middleware
    app.use(signedIn);
    // @ts-expect-error an explicit undefined would leave the route open
    app.get("/x", { auth: flag ? signedIn : undefined }, () => 1);
  });
});

describe("the answer", () => {
  const Book = z.object({ title: z.string() });
  it("is anything without a schema", () => {
    app.get("/", () => ({ any: [1, "thing"] }));
    app.get("/", async ({ response }) => response.status(201).json({}));
  });
  it("is what the schema takes", () => {
    app.get("/", { response: Book }, () => ({ title: "" }));
    app.get("/", { response: Book }, async ({ response }) => response.status(201).json({ title: "" }));
    app.get("/", { response: { 200: Book, 404: z.object({ detail: z.string() }) } }, ({ response }) =>
      flag ? { title: "" } : response.status(404).json({ detail: "no such book" }),
    );
    app.delete("/", { response: { 204: null } }, ({ response }) => response.empty());
    app.delete("/", { response: { 204: null } }, () => undefined);
    app.delete("/", { response: { 200: Book, 204: null } }, ({ response }) =>
      flag ? { title: "" } : response.empty(),
    );
    app.delete("/", { response: { 202: null } }, ({ response }) => response.status(202).empty());
    app.get("/", { response: v.object({ n: v.number() }) }, () => ({ n: 1 }));
    app.get("/", { response: type({ n: "number" }) }, () => ({ n: 1 }));
  });
  it("is nothing else", () => {
    // @ts-expect-error misspelt
    app.get("/x", { response: Book }, () => ({ titel: "" }));
    // @ts-expect-error nothing in it
    app.get("/x", { response: Book }, () => ({}));
    // @ts-expect-error nothing at all
    app.get("/x", { response: Book }, () => {});
    // @ts-expect-error `.json(...)` forgotten
    app.get("/x", { response: Book }, ({ response }) => response.status(201));
    // @ts-expect-error wrong, in a promise and an answer
    app.get("/x", { response: Book }, async ({ response }) => response.json({ title: 1 }));
    const response = { 200: Book, 404: z.object({ detail: z.string() }) };
    // @ts-expect-error 404 promises a detail
    app.get("/x", { response }, ({ response }) => response.status(404).json({ title: "" }));
    // @ts-expect-error no 500 was declared
    app.get("/x", { response: { 200: Book } }, ({ response }) => response.status(500).json({ title: "" }));
    // @ts-expect-error 204 has no body
    app.get("/x", { response: { 204: null } }, ({ response }) => response.status(204).json({ title: "" }));
    // @ts-expect-error `empty()` is 204, and only 202 was declared
    app.get("/x", { response: { 202: null } }, ({ response }) => response.empty());
    // @ts-expect-error valibot
    app.get("/x", { response: v.object({ n: v.number() }) }, () => ({ n: "1" }));
    // @ts-expect-error arktype
    app.get("/x", { response: type({ n: "number" }) }, () => ({ n: "1" }));
  });
  it("knows its body and status", () => {
    app.get("/", ({ response }) => {
      expectTypeOf(response.status(201).json({ a: 1 })).toEqualTypeOf<TypedResponse<{ a: number }, 201>>();
      return response.text("");
    });
  });
});

describe("sockets", () => {
  it("type path, query, user and parameters", () => {
    app.socket(
      "/rooms/:room",
      {
        auth: signedIn,
        query: z.object({ n: z.coerce.number() }),
        params: { ws: WebSocketContext, n: Depend(() => 1) },
      },
      (args) => {
        expectTypeOf(args.path).toEqualTypeOf<{ readonly room: string }>();
        expectTypeOf(args.query).toEqualTypeOf<{ n: number }>();
        expectTypeOf(args.socket).toEqualTypeOf<Socket>();
        expectTypeOf(args.ctx).toEqualTypeOf<WebSocketContext<UserProtocol>>();
        expectTypeOf(args.ws).toEqualTypeOf<WebSocketContext>();
        expectTypeOf(args.n).toEqualTypeOf<number>();
      },
    );
    // @ts-expect-error misspelt
    app.socket("/x", { maxMesage: "1kb" }, () => {});
    // @ts-expect-error a socket has no body
    app.socket("/x", ({ body }) => body);
  });
});

describe("the rest of the door", () => {
  it("is typed", () => {
    expectTypeOf(currentContext()).toEqualTypeOf<BaseContext | null>();
    expectTypeOf(env("X")).toEqualTypeOf<string>();
    expectTypeOf<PorticoRequest["user"]>().toEqualTypeOf<Caller>();
    expectTypeOf<ReturnType<UserProtocol["hasPermission"]>>().toEqualTypeOf<boolean>();
    app.use(async (ctx, next) => {
      expectTypeOf(ctx.user).toEqualTypeOf<Caller>();
      if (ctx.kind === "websocket") ctx.socket.close();
      else ctx.response.header("x", "y");
      await next();
    });
    const added = topic<{ id: string }>("added");
    app.get("/", async ({ ctx }) => {
      await ctx.pubsub.publish(added, { id: "1" });
      // @ts-expect-error another event
      await ctx.pubsub.publish(added, { id: 1 });
      for await (const event of ctx.pubsub.subscribe(added)) expectTypeOf(event).toEqualTypeOf<{ id: string }>();
    });
  });
  it("refuses what is no option", () => {
    // @ts-expect-error an origin has a scheme
    new PorticoApp({ origins: ["shop.example"] });
    // @ts-expect-error misspelt
    new PorticoApp({ title: "", origin: [] });
    // @ts-expect-error networks, never true
    new PorticoApp({ trustedProxies: true });
    // @ts-expect-error no such unit
    new PorticoApp({ maxBody: "1tb" });
    // @ts-expect-error not an error class
    app.addExceptionHandler(Map, () => 1);
    class Slow implements UserProtocol {
      readonly isAuthenticated = true;
      readonly identity = "";
      readonly displayName = "";
      // @ts-expect-error permissions are loaded with the user
      async hasPermission() {
        return true;
      }
    }
    void Slow;
  });
});
