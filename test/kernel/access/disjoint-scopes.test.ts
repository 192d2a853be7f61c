import { ConfigurationError, every, PorticoApp, Router, some } from "portico";
import { useAuth } from "portico/auth";
import { field, Graph, schema, t } from "portico/graphql";
import { describe, expect, it } from "vitest";

const bySession = useAuth({ scopes: ["session"] });
const byToken = useAuth({ scopes: ["jwt"] });
const byEither = useAuth({ scopes: ["jwt", "session"] });
const byKeyOrToken = useAuth({ scopes: ["apikey", "jwt"] });
const byKeyOrSession = useAuth({ scopes: ["apikey", "session"] });

const securityOf = (app: PorticoApp): unknown => (app.openapi() as any).paths["/in/a"].get.security;

describe("gates without a common scope", () => {
  it.each([
    ["two gates", () => every(bySession, byToken), '"session"; "jwt"'],
    [
      "gates that only agree in pairs",
      () => every(byEither, byKeyOrToken, byKeyOrSession),
      '"jwt", "session"; "apikey"',
    ],
    ["a nested combination", () => every(true, bySession, some(byToken, byKeyOrToken)), '"session"; "jwt", "apikey"'],
    [
      "gates that accept anonymous callers",
      () => every(useAuth({ scopes: ["session"], required: false }), useAuth({ scopes: ["jwt"], required: false })),
      '"session"; "jwt"',
    ],
  ])("cannot be combined with every(): %s", (_name, combine, lists) => {
    expect(combine).toThrow(ConfigurationError);
    expect(combine).toThrow(
      `every accepts no sign-in method: a caller has one scope, and no scope is accepted by all of its gates (${lists}`,
    );
  });

  it.each([
    ["a route", (router: Router<any, any, any>) => router.get("/a", { auth: byToken }, () => 1), "GET /in/a.auth"],
    [
      "a socket",
      (router: Router<any, any, any>) => router.socket("/a", { auth: byToken }, () => {}),
      "socket /in/a.auth",
    ],
    [
      "a mounted router",
      (router: Router<any, any, any>) =>
        router.mount(
          "/deep",
          new Router({ auth: byToken }).get("/a", () => 1),
        ),
      "GET /in/deep/a.auth",
    ],
    [
      "a GraphQL endpoint",
      (router: Router<any, any, any>) =>
        new Graph(schema({ query: { a: field(t.int)(() => 1) } }), { auth: byToken }).mount(router),
      "/in/graphql.auth",
    ],
  ])("are rejected at startup if a router has one and %s the other", (_name, declare, option) => {
    const router = new Router({ prefix: "/in", auth: bySession });
    declare(router);
    const app = new PorticoApp({ logger: false }).mount("", router);

    expect(() => app.openapi()).toThrow(ConfigurationError);
    expect(() => app.openapi()).toThrow(`${option} accepts no sign-in method together with the auth of its router`);
  });
});

describe("gates with a common scope", () => {
  it("accept that scope, also in the OpenAPI document", () => {
    const router = new Router({ prefix: "/in", auth: byEither }).get(
      "/a",
      { auth: every(true, byKeyOrToken) },
      () => 1,
    );

    expect(securityOf(new PorticoApp({ logger: false }).mount("", router))).toEqual([{ jwt: [] }]);
    expect(every(byEither, bySession, true).scopes).toEqual(["session"]);
  });

  it("are not needed by a route that drops the gate of its router", () => {
    const router = new Router({ prefix: "/in", auth: bySession }).get("/a", { auth: false }, () => 1);

    expect(() => new PorticoApp({ logger: false }).mount("", router).openapi()).not.toThrow();
  });
});
