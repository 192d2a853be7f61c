import { type Middleware, PorticoApp, Router } from "portico";
import { AuthenticationMiddleware, SimpleUser, useAuth } from "portico/auth";
import { field, Graph, schema, t } from "portico/graphql";
import { type CaughtLine, liveClient, logCatcher, testClient } from "portico/testing";
import { describe, expect, it } from "vitest";
import { HeaderBackend } from "../backends/recording-backend.ts";
import { ANONYMOUS, backendFor, claims, forge, standing, tokenApp } from "../tokens/token-app.ts";

const warningsOf = (lines: readonly CaughtLine[]): readonly string[] =>
  lines
    .filter(({ level }) => level === "warn")
    .map(({ msg, routes = [] }) => [msg, ...(routes as string[])].join(" | "));
const authentication = (): AuthenticationMiddleware =>
  new AuthenticationMiddleware({
    userModel: SimpleUser,
    backend: [new HeaderBackend("jwt"), new HeaderBackend("session")],
  });

/** The log after the app has started and responded. */
async function startOf(build: (app: PorticoApp) => unknown, path = "/", headers = {}): Promise<readonly unknown[]> {
  const log = logCatcher();
  const app = new PorticoApp({ logger: log });
  build(app);
  const client = await liveClient(app);
  const statuses = [await client.get(path, { headers }), await client.get(path, { headers })].map(
    ({ status }) => status,
  );
  await client.close();
  return [...statuses, ...warningsOf(log.lines)];
}

describe("a scope that no backend provides", () => {
  it("[USE-07] [auth:AU-175] is logged once at startup, and does not open the gate", async () => {
    const seen = await startOf(
      (app) =>
        app
          .use(authentication())
          .get("/", { auth: useAuth({ scopes: ["jwtt" as never] }) }, () => "in")
          .post("/", { auth: useAuth({ scopes: ["jwtt" as never, "jwt"] }) }, () => "in")
          .socket("/live", { auth: useAuth({ scopes: ["apikey"] }) }, () => {})
          .get("/fine", { auth: useAuth({ scopes: ["session", "jwt"] }) }, () => "in"),
      "/",
      { "x-jwt": "ann" },
    );

    expect(seen).toEqual([
      401,
      401,
      'no backend provides the scope "jwtt", so these gates never accept it | GET / | POST /',
      'no backend provides the scope "apikey", so these gates never accept it | socket /live',
    ]);
  });

  it("[USE-07] [auth:AU-175] does not compile, and an empty list takes every scope", async () => {
    // @ts-expect-error: a misspelt scope
    useAuth({ scopes: ["jwtt"] });

    const seen = await startOf(
      (app) => app.use(authentication()).get("/", { auth: useAuth({ scopes: [] }) }, () => "in"),
      "/",
      { "x-session": "ann" },
    );

    expect(seen).toEqual([200, 200]);
  });

  it("is looked for among all middleware around the route", async () => {
    const inner = new Router({
      middleware: [new AuthenticationMiddleware({ userModel: SimpleUser, backend: new HeaderBackend("apikey") })],
    });
    inner.get("/", { auth: useAuth({ scopes: ["apikey"] }) }, () => "in");

    expect(await startOf((app) => app.use(authentication()).mount("", inner), "/", { "x-apikey": "ann" })).toEqual([
      200, 200,
    ]);
  });
});

describe("a gate without authentication", () => {
  const sentence =
    "no authentication middleware runs before these gates, so they reject every caller: add AuthenticationMiddleware, or list the scopes of your custom middleware";

  it("[auth:AU-174] is logged at startup, and stays closed", async () => {
    const seen = await startOf((app) => {
      app
        .get("/", { auth: useAuth() }, () => "in")
        .socket("/live", { auth: useAuth() }, () => {})
        .get("/open", () => "open")
        .get("/either", { auth: useAuth({ required: false }) }, () => "either");
      new Graph(schema({ query: { a: field(t.int)(() => 1) } }), { auth: useAuth() }).mount(app);
    });

    expect(seen).toEqual([401, 401, expect.stringContaining(`${sentence} | GET / | `)]);
    expect(seen[2]).toMatch(/socket \/live/);
    expect(seen[2]).toMatch(/POST \/graphql/);
    expect(seen[2]).not.toMatch(/open|either/);
  });

  it("is allowed if custom middleware lists its scopes", async () => {
    const own: Middleware = { scopes: ["apikey"], handle: (_ctx, next) => next() };

    expect(
      await startOf((app) => app.use(own).get("/", { auth: useAuth({ scopes: ["apikey"] }) }, () => "in")),
    ).toEqual([401, 401]);
    expect(await startOf((app) => app.use(own).get("/", { auth: useAuth({ scopes: ["jwt"] }) }, () => "in"))).toEqual([
      401,
      401,
      'no backend provides the scope "jwt", so these gates never accept it | GET /',
    ]);
  });
});

describe("a token from another service with the same key", () => {
  const staging = forge({ ...claims, iss: "https://staging.example", aud: "staging" });
  const warnings = async (options: Parameters<typeof backendFor>[0]): Promise<readonly string[]> => {
    const { app, log } = tokenApp(backendFor(options));
    await testClient(app).get("/open");
    await testClient(app).get("/open");
    return warningsOf(log.lines);
  };

  it.each([{ issuer: "https://shop.example" }, { audience: "shop" }])(
    "[auth:AU-044] is declined with %j",
    async (options) => {
      const client = await liveClient(tokenApp(backendFor(options)).app);

      expect(await standing(client, `Bearer ${staging}`)).toEqual(ANONYMOUS);
      await client.close();
      expect(await warnings(options)).toEqual([]);
    },
  );

  it("[auth:AU-044] is declined for its audience if neither is configured, and a startup warning is logged once", async () => {
    const client = await liveClient(tokenApp(backendFor()).app);

    expect(await standing(client, `Bearer ${staging}`)).toEqual(ANONYMOUS);
    await client.close();
    expect(await warnings({})).toEqual([expect.stringContaining("JWTAuthBackend has neither issuer nor audience")]);
  });
});
