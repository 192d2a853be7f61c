import { AnonymousUser, type Credential, identify, PorticoApp, type PorticoRequest } from "portico";
import {
  AuthenticationBackend,
  AuthenticationMiddleware,
  AuthResult,
  SimpleUser,
  UserBaseModel,
  useAuth,
} from "portico/auth";
import { testClient } from "portico/testing";
import { expect, expectTypeOf, it } from "vitest";
import { HeaderBackend } from "../backends/recording-backend.ts";

it("[USR-06] a SimpleUser is a user model for tests", async () => {
  const app = new PorticoApp({ logger: false })
    .use(new AuthenticationMiddleware({ userModel: SimpleUser, backend: new HeaderBackend() }))
    .get("/", { auth: useAuth() }, ({ user }) => [
      user.identity,
      user.displayName,
      user.isAuthenticated,
      user instanceof UserBaseModel,
    ]);

  const answer = await testClient(app).get("/", { headers: { "x-jwt": "ann" } });

  expect(answer.json()).toEqual(["ann", "ann", true, true]);
});

it("has the given permissions and no others", () => {
  const user = new SimpleUser("ann", ["read:books"]);

  expect([
    user.hasPermission("read:books"),
    user.hasPermission("write:books"),
    new SimpleUser("bob").hasPermission("read:books"),
  ]).toEqual([true, false, false]);
});

it("[USR-07] an AnonymousUser is not authenticated and has no permissions", () => {
  const nobody = new AnonymousUser();

  expect([nobody.isAuthenticated, nobody.identity, nobody.displayName, nobody.hasPermission("read:books")]).toEqual([
    false,
    "",
    "",
    false,
  ]);
});

it("[USR-08] an AuthResult has success, identity and scope", () => {
  expect(AuthResult.accept("7", "jwt")).toEqual({ success: true, identity: "7", scope: "jwt" });
  expect([AuthResult.decline(), AuthResult.decline("expired")]).toEqual([
    { success: false },
    { success: false, reason: "expired" },
  ]);
  expectTypeOf<Extract<AuthResult, { success: true }>>().toEqualTypeOf<{
    readonly success: true;
    readonly identity: string;
    readonly scope: "jwt" | "session" | "apikey";
    readonly credential?: Credential;
  }>();
});

it("[CBK-01] a subclass of AuthenticationBackend is called with the request", async () => {
  const seen: PorticoRequest[] = [];
  class Own extends AuthenticationBackend {
    readonly scope = "apikey";
    async authenticate(request: PorticoRequest): Promise<AuthResult> {
      seen.push(request);
      return AuthResult.decline();
    }
  }
  const app = new PorticoApp({ logger: false })
    .use(new AuthenticationMiddleware({ userModel: SimpleUser, backend: new Own() }))
    .get("/", ({ request }) => seen[0] === request);

  expect((await testClient(app).get("/")).json()).toBe(true);
});

it("[ATH-13] the gate checks the user that custom middleware has set", async () => {
  const app = new PorticoApp({ logger: false })
    .use(async (ctx, next) => {
      const name = ctx.request.headers["x-name"];
      if (name !== undefined)
        identify(ctx, { user: new SimpleUser(name, ["read:books"]), auth: name === "key" ? "apikey" : "jwt" });
      await next();
    })
    .get("/", { auth: useAuth({ scopes: ["jwt"], permissions: ["read:books"] }) }, ({ user }) => user.identity);
  const status = async (headers: Record<string, string>): Promise<number> =>
    (await testClient(app).get("/", { headers })).status;

  expect([await status({ "x-name": "ann" }), await status({ "x-name": "key" }), await status({})]).toEqual([
    200, 401, 401,
  ]);
});
