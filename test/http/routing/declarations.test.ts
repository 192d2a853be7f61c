import { ConfigurationError, type Middleware, PorticoApp, type Preset, Router } from "portico";
import { AuthenticationMiddleware, SimpleUser } from "portico/auth";
import { field, Graph, schema, subscription, t } from "portico/graphql";
import { liveClient, type SocketRefused, testClient } from "portico/testing";
import { describe, expect, it } from "vitest";
import { HeaderBackend } from "../../auth/backends/recording-backend.ts";

const quiet = (): PorticoApp => new PorticoApp({ logger: false });
const hello = schema({
  query: { hello: field(t.string)(() => "world") },
  subscription: {
    ticks: subscription(t.int)(async function* () {
      yield 1;
    }),
  },
});

it("a route has the method that declares it, and no other", async () => {
  const app = quiet()
    .get("/get", () => "GET")
    .post("/post", () => "POST")
    .put("/put", () => "PUT")
    .patch("/patch", () => "PATCH")
    .delete("/delete", () => "DELETE")
    .options("/options", () => "OPTIONS");
  const paths = ["get", "post", "put", "patch", "delete", "options"] as const;

  for (const path of paths) {
    const served = await app.inject({ method: path.toUpperCase(), url: `/${path}` });
    expect([served.status, JSON.parse(String(served.body))]).toEqual([200, path.toUpperCase()]);
    const refused = await app.inject({ method: path === "post" ? "PUT" : "POST", url: `/${path}` });
    expect([refused.status, refused.headers["allow"]]).toEqual([
      405,
      path === "get" ? "GET, HEAD" : path.toUpperCase(),
    ]);
  }
});

describe("a path below a prefix", () => {
  it("may be empty, for a route and for a socket", async () => {
    const client = await liveClient(
      quiet().mount(
        "/api",
        new Router({ prefix: "/books" }).get("", () => "books").socket("", ({ socket }) => socket.send("live")),
      ),
    );
    const socket = await client.socket("/api/books");

    expect((await client.get("/api/books")).json()).toBe("books");
    expect(await socket.next()).toBe("live");
    await client.close();
  });

  it.each(["books", 7])("begins with a slash otherwise, and is not %j", (path) => {
    const router = new Router({ prefix: "/api" });
    const sentence = `${path}: the path must be a string that begins with "/"`;

    expect(() => router.put(path as string, () => 1)).toThrow(`PUT ${sentence}`);
    expect(() => router.socket(path as string, () => {})).toThrow(`socket ${sentence}`);
  });

  it.each([
    ["", "", "/", "/"],
    ["", "", "/x", "/x"],
    ["/", "/", "/", "/"],
    ["/", "/", "/x", "/x"],
    ["/a", "/b", "/", "/a/b"],
    ["/a/", "/b/", "/x", "/a/b/x"],
    ["/a//", "/b///", "/x", "/a/b/x"],
    ["/a/c", "", "/x/", "/a/c/x/"],
  ])("is joined without a double slash: %j, %j and %j", (mount, prefix, path, joined) => {
    const app = quiet().mount(
      mount,
      new Router({ prefix }).get(path, () => 1),
    );

    expect(Object.keys(app.openapi().paths)).toEqual([joined]);
  });

  it.each([7, "books", null, {}])("cannot have the prefix %j", (prefix) => {
    expect(() => new Router({ prefix: prefix as string })).toThrow(
      'Router.prefix must be a string that begins with "/"',
    );
  });
});

describe("mount", () => {
  it("does not accept an application", () => {
    expect(() => quiet().mount("/a", new PorticoApp() as never)).toThrow(ConfigurationError);
    expect(() => new Router().mount("/a", new PorticoApp() as never)).toThrow(
      "mount was given a PorticoApp, whose options and exception handlers would be lost: pass a Router",
    );
  });

  it("accepts a router that contains another one, and one router twice", async () => {
    const leaf = new Router().get("/", () => "leaf");
    const app = quiet().mount("/a", new Router().mount("/b", leaf)).mount("/c", leaf);

    const bodies = await Promise.all(["/a/b", "/c"].map(async (path) => (await testClient(app).get(path)).json()));

    expect(bodies).toEqual(["leaf", "leaf"]);
  });

  it("finds itself several routers deep", () => {
    const root = new Router();
    const deep = new Router().mount("/x", new Router()).mount("/y", new Router().mount("/z", root));

    expect(() => root.mount("/", deep)).toThrow("mount was given the router itself, or a router that contains it");
  });
});

describe("a preset", () => {
  const preset = (name?: string): Preset => ({
    ...(name === undefined ? {} : { name }),
    middleware: [],
    routers: [],
  });

  it("with a name is accepted once by a router", () => {
    const router = new Router().use(preset("accounts"));

    expect(() => router.use(preset("accounts"))).toThrow(
      new ConfigurationError("accounts", "is used twice on this router: merge the two into one"),
    );
    expect(() => router.use(preset("billing"))).not.toThrow();
    expect(() => new Router().use(preset("accounts"))).not.toThrow();
  });

  it("without a name is accepted any number of times", () => {
    expect(() => new Router().use(preset()).use(preset())).not.toThrow();
  });

  it("is told from a middleware object by its routers", async () => {
    const steps: string[] = [];
    const middleware: Middleware = {
      handle(_ctx, next) {
        steps.push("object");
        return next();
      },
    };

    await testClient(
      quiet()
        .use(middleware)
        .use({ middleware: [middleware], routers: [] })
        .get("/", () => 1),
    ).get("/");

    expect(steps).toEqual(["object", "object"]);
  });
});

it.each<[string, (app: PorticoApp) => unknown]>([
  ["a GraphQL endpoint", (app) => new Graph(hello).mount(app)],
  ["one without subscriptions", (app) => new Graph(schema({ query: { one: field(t.int)(() => 1) } })).mount(app)],
  ["a preset", (app) => app.use({ name: "late", middleware: [], routers: [] })],
  ["a route", (app) => app.delete("/late", () => 1)],
])("an application that has started does not accept %s", async (_what, declare) => {
  const app = quiet().get("/", () => 1);
  await app.inject("/");

  expect(() => declare(app)).toThrow("Router has already started: declare routes, middleware and mounts before");
});

describe("a GraphQL endpoint in a router", () => {
  it("has the prefix, the middleware and the gate of the router", async () => {
    const router = new Router({
      prefix: "/in",
      auth: true,
      middleware: [(ctx, next) => (ctx.request.headers["x-stop"] === undefined ? next() : undefined)],
    });
    new Graph(hello).mount(router);
    const client = await liveClient(quiet().mount("/api", router));
    const ask = { body: { query: "{ hello }" } };
    const ann = client.as(new SimpleUser("ann"));

    expect((await client.post("/api/in/graphql", ask)).status).toBe(401);
    expect((await ann.post("/api/in/graphql", ask)).json()).toMatchObject({ data: { hello: "world" } });
    expect((await ann.post("/api/in/graphql", { ...ask, headers: { "x-stop": "1" } })).status).toBe(500);
    await client.close();
  });
});

it("a route in a router with auth has its gate, unless the route drops it with auth: false", async () => {
  const router = new Router({ auth: true })
    .get("/closed", () => "closed")
    .get("/open", { auth: false }, () => "open")
    .get("/own", { auth: (user) => user.identity === "ann" }, () => "own");
  const client = testClient(quiet().mount("", new Router().mount("", router)));
  const paths = ["/closed", "/open", "/own"];
  const statuses = (of: typeof client): Promise<number[]> =>
    Promise.all(paths.map(async (path) => (await of.get(path)).status));

  expect(await statuses(client)).toEqual([401, 200, 401]);
  expect(await statuses(client.as(new SimpleUser("bob")))).toEqual([200, 200, 403]);
  expect(await statuses(client.as(new SimpleUser("ann")))).toEqual([200, 200, 200]);
});

describe("a socket in a router with auth", () => {
  it("has its gate, unless the socket drops it with auth: false", async () => {
    const router = new Router({ auth: true })
      .socket("/closed", ({ socket }) => socket.send("closed"))
      .socket("/open", { auth: false }, ({ socket }) => socket.send("open"))
      .socket("/own", { auth: (user) => user.identity === "ann" }, ({ socket }) => socket.send("own"));
    const authentication = new AuthenticationMiddleware({ userModel: SimpleUser, backend: new HeaderBackend("jwt") });
    const client = await liveClient(quiet().use(authentication).mount("", router));
    const read = async (path: string, headers: Readonly<Record<string, string>>): Promise<unknown> => {
      try {
        return await (await client.socket(path, { headers })).next();
      } catch (error) {
        return (error as SocketRefused).response.status;
      }
    };

    expect([await read("/open", {}), await read("/closed", {}), await read("/own", {})]).toEqual(["open", 401, 401]);
    expect([await read("/closed", { "x-jwt": "bob" }), await read("/own", { "x-jwt": "bob" })]).toEqual([
      "closed",
      403,
    ]);
    expect(await read("/own", { "x-jwt": "ann" })).toBe("own");
    await client.close();
  });

  it.each([undefined, null, "handler", {}])("has a handler that is a function, and not %j", (handler) => {
    const router = new Router();

    expect(() => router.socket("/x", {}, handler as never)).toThrow(
      "socket /x: the handler must be a function, received ",
    );
    expect(() => router.patch("/x", {}, handler as never)).toThrow(
      "PATCH /x: the handler must be a function, received ",
    );
  });
});
