import { type Middleware, PorticoApp, Router, some } from "portico";
import { AuthenticationMiddleware, SimpleUser, useAuth } from "portico/auth";
import { logCatcher, testClient } from "portico/testing";
import { expect, it } from "vitest";
import { HeaderBackend } from "../../auth/backends/recording-backend.ts";

const closed =
  "no authentication middleware runs before these gates, so they reject every caller: add AuthenticationMiddleware, or list the scopes of your custom middleware";
const unknown = (scope: string): string => `no backend provides the scope "${scope}", so these gates never accept it`;

const authentication = (...scopes: readonly ("jwt" | "session")[]): AuthenticationMiddleware =>
  new AuthenticationMiddleware({ userModel: SimpleUser, backend: scopes.map((scope) => new HeaderBackend(scope)) });
const withWarnings = (...warnings: readonly string[]): Middleware => ({ handle: (_ctx, next) => next(), warnings });
const withScopes = (scopes: unknown): Middleware =>
  ({ handle: (_ctx: unknown, next: () => unknown) => next(), scopes }) as Middleware;

/** The warnings that the application logs at startup, with their details. */
async function report(build: (app: PorticoApp) => unknown): Promise<readonly unknown[]> {
  const log = logCatcher();
  const app = new PorticoApp({ logger: log });
  build(app);
  await testClient(app).get("/");
  return log.lines
    .filter(({ level }) => level === "warn")
    .map(({ msg, scope, routes }) => [msg, ...(scope === undefined ? [] : [scope]), ...((routes as string[]) ?? [])]);
}

it("a gate without authentication before it is reported at startup, and one that needs none is not", async () => {
  const reported = await report((app) =>
    app
      .use((_ctx, next) => next())
      .get("/", () => "open")
      .get("/required", { auth: true }, () => "in")
      .get("/optional", { auth: useAuth({ required: false }) }, () => "in")
      .get("/own", { auth: { required: true, needsIdentity: false, scopes: ["jwt"], check: () => {} } }, () => "in")
      .post("/posted", { auth: () => true }, () => "in")
      .socket("/live", { auth: true }, () => {}),
  );

  expect(reported).toEqual([[closed, "GET /required", "POST /posted", "socket /live"]]);
});

it("nothing is reported if every gate can open", async () => {
  const router = new Router({ middleware: [authentication("jwt")] }).get("/in", { auth: true }, () => "in");
  const reported = await report((app) =>
    app
      .get("/", () => "open")
      .mount("", router)
      .mount(
        "/listed",
        new Router({ middleware: [withScopes(["apikey"])] }).get(
          "/",
          { auth: useAuth({ scopes: ["apikey"] }) },
          () => "in",
        ),
      ),
  );

  expect(reported).toEqual([]);
});

it("a scope that no backend provides is reported with all of its gates", async () => {
  const reported = await report((app) =>
    app
      .use(withWarnings())
      .use(authentication("jwt"))
      .use(authentication("session"))
      .get("/", { auth: useAuth({ scopes: ["jwt", "session"] }) }, () => "in")
      .get("/key", { auth: useAuth({ scopes: ["apikey", "jwt"] }) }, () => "in")
      .put("/key", { auth: some(useAuth({ scopes: ["apikey"] }), useAuth({ scopes: ["hmac" as "jwt"] })) }, () => "in")
      .get("/any", { auth: true }, () => "in"),
  );

  expect(reported).toEqual([
    [unknown("apikey"), "apikey", "GET /key", "PUT /key"],
    [unknown("hmac"), "hmac", "PUT /key"],
  ]);
});

it("middleware whose scopes are not a list is no authentication", async () => {
  expect(await report((app) => app.use(withScopes("jwt")).get("/", { auth: true }, () => "in"))).toEqual([
    [closed, "GET /"],
  ]);
});

it("the warnings of middleware are reported once each, whether its routes have gates or not", async () => {
  const reported = await report((app) =>
    app
      .use(withWarnings("first", "second"))
      .get("/", () => "open")
      .get("/in", { middleware: [withWarnings("second", "third")] }, () => "in"),
  );

  expect(reported).toEqual([["first"], ["second"], ["third"]]);
});
