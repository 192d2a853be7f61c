import { ConfigurationError, type Middleware, PorticoApp, type Preset, Router } from "portico";
import { testClient } from "portico/testing";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { overBoth } from "../../matrix.ts";

const quiet = (): PorticoApp => new PorticoApp({ logger: false });
/** Writes its name on the way in and on the way out. */
const trace =
  (steps: string[], name: string): Middleware =>
  async (_ctx, next) => {
    steps.push(name);
    await next();
    steps.push(`/${name}`);
  };

overBoth(
  "the prefix stands before every path, and routers nest",
  () => {
    const reviews = new Router({ prefix: "/reviews" }).get("/", () => "reviews").get("/:n", ({ path }) => path.n);
    const books = new Router({ prefix: "/books" })
      .get("/", () => "books")
      .get("/:id", ({ path }) => path.id)
      .mount("/:id", reviews);
    return quiet()
      .mount("/api", books)
      .mount(
        "",
        new Router().get("/", () => "root"),
      );
  },
  async (client) => {
    const paths = ["/", "/api/books", "/api/books/7", "/api/books/7/reviews", "/api/books/7/reviews/2", "/books"];

    const answers = await Promise.all(paths.map((path) => client.get(path)));

    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 404]);
    expect(answers.slice(0, 5).map((answer) => answer.json())).toEqual(["root", "books", "7", "reviews", "2"]);
  },
);

overBoth(
  "parameters of the prefix and of the mount reach the handler, and its path schema",
  () => {
    const books = new Router({ prefix: "/shops/:shop" })
      .get("/books/:id", ({ path }) => [path.shop, path.id])
      .get(
        "/shelves/:n",
        { path: z.object({ country: z.string(), shop: z.string(), n: z.coerce.number<string>() }) },
        ({ path }) => path,
      );
    return quiet().mount("/:country", books);
  },
  async (client) => {
    const raw = await client.get("/fr/shops/caf%C3%A9/books/1");
    const checked = await client.get("/fr/shops/lyon/shelves/3");

    expect(raw.json()).toEqual(["café", "1"]);
    expect(checked.json()).toEqual({ country: "fr", shop: "lyon", n: 3 });
  },
);

overBoth(
  "a slash at the end of a prefix does not double",
  () =>
    quiet().mount(
      "/api/",
      new Router({ prefix: "/books/" }).get("/all", () => "all"),
    ),
  async (client) => {
    expect((await client.get("/api/books/all")).json()).toBe("all");
  },
);

it("the paths in the OpenAPI document are those of the prefixes and mounts, without a slash at the end", () => {
  const books = new Router({ prefix: "/books/" }).get("/", () => []).get("/:id", ({ path }) => path);
  const app = quiet()
    .get("/", () => 1)
    .mount("/api/", books);

  expect(Object.keys(app.openapi().paths)).toEqual(["/", "/api/books", "/api/books/{id}"]);
});

describe("middleware", () => {
  it("runs from the app inwards over the routers to the route, and back", async () => {
    const steps: string[] = [];
    const inner = new Router({ middleware: [trace(steps, "inner")] }).get(
      "/deep",
      { middleware: [trace(steps, "route 1"), trace(steps, "route 2")] },
      () => steps.push("handler"),
    );
    const outer = new Router({ middleware: [trace(steps, "outer 1")] }).use(trace(steps, "outer 2")).mount("/b", inner);
    const app = quiet().use(trace(steps, "app")).mount("/a", outer);

    await testClient(app).get("/a/b/deep");

    const inwards = ["app", "outer 1", "outer 2", "inner", "route 1", "route 2"];
    expect(steps).toEqual([...inwards, "handler", ...inwards.toReversed().map((name) => `/${name}`)]);
  });

  it("holds for routes that were declared and routers that were mounted before it", async () => {
    const steps: string[] = [];
    const router = new Router().get("/", () => "mounted");
    const app = quiet()
      .get("/early", () => "early")
      .mount("/mounted", router);
    app.use(trace(steps, "app"));
    router.use(trace(steps, "router"));

    await testClient(app).get("/early");
    await testClient(app).get("/mounted");

    expect(steps).toEqual(["app", "/app", "app", "router", "/router", "/app"]);
  });

  it("of a router leaves the routes beside it alone", async () => {
    const steps: string[] = [];
    const app = quiet()
      .mount(
        "/a",
        new Router({ middleware: [trace(steps, "a")] }).get("/", () => "a"),
      )
      .mount(
        "/b",
        new Router().get("/", () => "b"),
      );

    await testClient(app).get("/b");

    expect(steps).toEqual([]);
  });

  it("that is added to a list after the router was made does not count", async () => {
    const steps: string[] = [];
    const middleware: Middleware[] = [];
    const app = quiet().mount(
      "/",
      new Router({ middleware }).get("/", () => 1),
    );
    middleware.push(trace(steps, "late"));

    await testClient(app).get("/");

    expect(steps).toEqual([]);
  });
});

it("the same router may be mounted at several places", async () => {
  const router = new Router().get("/who", ({ request }) => request.url.replace(/^.*\d/, ""));
  const app = quiet().mount("/a", router).mount("/b", router);

  const answers = await Promise.all(["/a/who", "/b/who"].map((path) => testClient(app).get(path)));

  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
});

it("a preset brings its middleware and its routers", async () => {
  const steps: string[] = [];
  const preset: Preset = {
    middleware: [trace(steps, "preset 1"), trace(steps, "preset 2")],
    routers: [
      ["/account", new Router().get("/me", () => "me")],
      ["/keys", new Router().get("/", () => "keys")],
    ],
  };
  const app = quiet()
    .get("/own", () => "own")
    .use(preset);

  const answers = await Promise.all(["/own", "/account/me", "/keys"].map((path) => testClient(app).get(path)));

  expect(answers.map((answer) => answer.json())).toEqual(["own", "me", "keys"]);
  expect(steps.filter((step) => step === "preset 2")).toHaveLength(3);
});

describe("a router", () => {
  const holder = new Router();
  const held = new Router().mount("/held", holder);
  const faults: readonly [string, () => unknown, string][] = [
    [
      "an unknown option",
      () => new Router({ prefixx: "/a" } as never),
      'Router: unknown option "prefixx". Did you mean "prefix"?',
    ],
    [
      "a prefix without a slash",
      () => new Router({ prefix: "a" }),
      'Router.prefix must be a string that begins with "/"',
    ],
    [
      "middleware that is not a list",
      () => new Router({ middleware: {} as never }),
      "Router.middleware must be a list",
    ],
    [
      "an invalid middleware",
      () => new Router({ middleware: [7 as never] }),
      "Router: a middleware must be a function",
    ],
    ["a use of nothing", () => new Router().use(undefined as never), "use: a middleware must be a function"],
    ["a mount without a slash", () => new Router().mount("a", new Router()), "mount: the prefix must be empty, or"],
    ["a mount of what is no router", () => new Router().mount("/a", {} as never), "mount must be given a Router"],
    [
      "a mount of itself",
      () => holder.mount("/a", holder),
      "mount was given the router itself, or a router that contains it",
    ],
    [
      "a mount of a router that contains it",
      () => holder.mount("/a", held),
      "mount was given the router itself, or a router that contains it",
    ],
  ];
  it.each(faults)("rejects %s", (_fault, act, sentence) => {
    expect(act).toThrow(ConfigurationError);
    expect(act).toThrow(sentence);
  });
});
