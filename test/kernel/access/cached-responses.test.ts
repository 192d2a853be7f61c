import { type HttpContext, identify, PorticoApp } from "portico";
import { SimpleUser } from "portico/auth";
import { field, Graph, schema, t } from "portico/graphql";
import { type LiveClient, liveClient } from "portico/testing";
import { describe, expect, it, onTestFinished } from "vitest";

// Several fields write one response. A cache may do with it only what all of them allow.

const news = field(t.string)(({ ctx }) => {
  ctx.cache({ maxAge: 3600, scope: "public" });
  return "news";
});
const weather = field(t.string)(({ ctx }) => {
  ctx.cache({ maxAge: 60, scope: "public" });
  return "rain";
});
const draft = field(t.string)(({ ctx }) => {
  ctx.cache({ maxAge: 600 });
  return "draft";
});
const me = field(t.string)(({ ctx }) => ctx.user.displayName);
const late = field(t.string)(async ({ ctx }) => {
  await Promise.resolve();
  return ctx.user.displayName;
});
const gated = field(t.nullable(t.string), { auth: true })(() => "for you");
const written = field(t.string, { params: { value: t.string } })(({ ctx, value }) => {
  (ctx as HttpContext).response.header("Cache-Control", value);
  return value;
});
const plain = field(t.string)(() => "plain");

async function client(): Promise<LiveClient> {
  const app = new PorticoApp({ logger: false });
  app.use(async (ctx, next) => {
    const name = ctx.request.headers["x-client-certificate"];
    if (name !== undefined) identify(ctx, { user: new SimpleUser(name), auth: "apikey" });
    await next();
  });
  app.get("/news", ({ ctx }) => {
    ctx.cache({ maxAge: 3600, scope: "public" });
    return "news";
  });
  app.get("/mine", ({ ctx, user }) => {
    ctx.cache({ maxAge: 3600, scope: "public" });
    return user.displayName;
  });
  app.get("/asset", ({ response, user }) =>
    response.header("cache-control", "public, immutable").text(user.displayName),
  );
  const strict = { middleware: [strictly] };
  app.get("/strict", strict, ({ ctx }) => ctx.cache({ maxAge: 3600, scope: "public" }));
  new Graph(schema({ query: { news, weather, draft, me, late, gated, written, plain } })).mount(app);
  const live = await liveClient(app);
  onTestFinished(() => live.close());
  return live;
}

async function strictly(ctx: unknown, next: () => Promise<void>): Promise<void> {
  (ctx as HttpContext).response.header("cache-control", "no-store");
  await next();
}

async function caching(path: string, query?: string): Promise<readonly [caching: unknown, vary: unknown]> {
  const { headers } = await (await client()).get(path, {
    ...(query === undefined ? {} : { query: { query } }),
    headers: { "x-client-certificate": "ann" },
  });
  return [headers["cache-control"], headers["vary"]];
}

const PRIVATE = "Accept, Authorization, Cookie, x-client-certificate";

describe("a GraphQL response has the strictest policy of its fields", () => {
  it.each([
    ["{ news }", "public, max-age=3600", "Accept"],
    ["{ news weather }", "public, max-age=60", "Accept"],
    ["{ weather news plain }", "public, max-age=60", "Accept"],
    ["{ draft news }", "private, max-age=600", "Accept"],
    ["{ news draft weather }", "private, max-age=60", "Accept"],
    ["{ plain }", "no-store", "Accept"],
    ['{ news written(value: "no-store") }', "no-store", "Accept"],
    ['{ written(value: "no-store") news }', "no-store", "Accept"],
    ['{ written(value: "public, max-age=9, no-cache") news }', "public, no-cache, max-age=9", "Accept"],
    ['{ news written(value: "public, s-maxage=9, immutable") }', "public, max-age=3600", "Accept"],
    ['{ a: written(value: "private") b: written(value: "public, max-age=5") }', "private, max-age=5", "Accept"],
  ])("%s", async (query, expected, vary) => {
    expect(await caching("/graphql", query)).toEqual([expected, vary]);
  });
});

describe("a response for which the identity was read is private, and Vary names what may have identified the caller", () => {
  it.each([
    ["{ me news }", "private, max-age=3600"],
    ["{ news me }", "private, max-age=3600"],
    ["{ news late }", "private, max-age=3600"],
    ["{ gated news }", "private, max-age=3600"],
    ['{ me written(value: "public, max-age=9, s-maxage=99") }', "private, max-age=9"],
  ])("%s", async (query, expected) => {
    expect(await caching("/graphql", query)).toEqual([expected, PRIVATE]);
  });

  it("of a route too, unless it writes the header itself", async () => {
    expect(await caching("/news")).toEqual(["public, max-age=3600", undefined]);
    expect(await caching("/mine")).toEqual(["private, max-age=3600", "Authorization, Cookie, x-client-certificate"]);
    expect(await caching("/asset")).toEqual(["public, immutable", undefined]);
  });

  it("also for an anonymous caller, who was looked for in the same headers", async () => {
    const { headers } = await (await client()).get("/graphql", { query: { query: "{ news me }" } });

    expect([headers["cache-control"], headers["vary"]]).toEqual(["private, max-age=3600", PRIVATE]);
  });
});

it("a policy of a handler does not replace the no-store of a middleware", async () => {
  expect(await caching("/strict")).toEqual(["no-store", undefined]);
});

it("a shared cache never gives one caller the response of another", async () => {
  const live = await client();
  const stored = new Map<string, string>();
  const read = async (query: string, caller: string | null): Promise<string> => {
    const headers = caller === null ? {} : { "x-client-certificate": caller };
    const response = await live.get("/graphql", { query: { query }, headers });
    if (response.headers["cache-control"]?.includes("public") === true) stored.set(query, response.text());
    return stored.get(query) ?? response.text();
  };

  for (const query of ["{ news me }", "{ me news }", "{ news late }", "{ gated news }", "{ news }"])
    for (const caller of ["ann", "bob", null]) await read(query, caller);

  expect([...stored.keys()]).toEqual(["{ news }"]);
});
