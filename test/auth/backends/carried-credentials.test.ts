import { decodeJwt } from "jose";
import { identify, memoryStores, PorticoApp, type PorticoRequest, type UserProtocol } from "portico";
import {
  APIKeyAuthBackend,
  APIKeys,
  AuthenticationBackend,
  AuthenticationMiddleware,
  AuthResult,
  publicKeySet,
  SessionAuthBackend,
  SessionMiddleware,
  SimpleUser,
} from "portico/auth";
import { logCatcher, manualClock, testClient } from "portico/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { accountHarness, ann, password } from "../accounts/account-harness.ts";
import { by } from "../api-keys/key-app.ts";
import { RecordingStore } from "../sessions/recording-store.ts";
import { cookieOf, SECRET } from "../sessions/session-app.ts";
import { HeaderBackend } from "./recording-backend.ts";

const userModel = SimpleUser;

/** Declines without a reason. */
class Silent extends AuthenticationBackend {
  readonly scope = "session";

  async authenticate(_request: PorticoRequest): Promise<AuthResult> {
    return AuthResult.decline();
  }
}

describe("a result", () => {
  it("has only the members that it was given", () => {
    const refusal = new Error("no");

    expect(AuthResult.decline()).toStrictEqual({ success: false });
    expect(AuthResult.decline("why")).toStrictEqual({ success: false, reason: "why" });
    expect(AuthResult.decline("why", refusal)).toStrictEqual({ success: false, reason: "why", refusal });
    expect(AuthResult.accept("ann", "jwt")).toStrictEqual({ success: true, identity: "ann", scope: "jwt" });
  });

  it("is logged if a backend declines with a reason", async () => {
    const log = logCatcher();
    const app = new PorticoApp({ logger: log })
      .use(new AuthenticationMiddleware({ userModel, backend: [new Silent(), new HeaderBackend("jwt")] }))
      .get("/", ({ user }) => user.identity);
    await testClient(app).get("/");

    expect(log.lines.filter(({ msg }) => msg === "an authentication backend declined")).toMatchObject([
      { level: "debug", scope: "jwt", reason: "no header" },
    ]);
  });

  it("of a backend that throws is logged with the error and its scope", async () => {
    const log = logCatcher();
    const app = new PorticoApp({ logger: log })
      .use(new AuthenticationMiddleware({ userModel, backend: new HeaderBackend("jwt") }))
      .get("/", ({ user }) => user.identity);
    await testClient(app).get("/", { headers: { "x-jwt": "!" } });

    expect(log.lines.filter(({ level }) => level === "error")).toMatchObject([
      { msg: "an authentication backend threw", scope: "jwt", err: { message: "the store is down" } },
    ]);
  });
});

describe("the credential of an API key", () => {
  it("expires with the key, and has the permissions of the key", async () => {
    const clock = manualClock(1_800_000_000_000);
    const store = new RecordingStore({ clock });
    const keys = new APIKeys({ store, clock });
    const seen: unknown[] = [];
    const app = new PorticoApp({ logger: false, clock })
      .use(new AuthenticationMiddleware({ userModel, backend: new APIKeyAuthBackend({ keys }) }))
      .get("/", ({ ctx }) => void seen.push(ctx.identity.credential));
    const client = testClient(app);
    const brief = await keys.create(new SimpleUser("ann"), { expiresInSeconds: 60, permissions: ["read"] });
    const forever = await keys.create(new SimpleUser("ann"), { expiresInSeconds: "never" });
    await client.get("/", by(brief.key));
    await client.get("/", by(forever.key));

    expect(seen).toStrictEqual([
      { id: `apikey:${brief.id}`, expiresAt: 1_800_000_060_000, permissions: ["read"] },
      { id: `apikey:${forever.id}` },
    ]);
  });

  it("restricts a user of a class without a prototype", async () => {
    const keys = new APIKeys({ store: memoryStores().durable });
    const bare: UserProtocol = Object.assign(Object.create(null) as object, {
      isAuthenticated: true,
      identity: "ann",
      displayName: "Ann",
      isAdmin: true,
      hasPermission: () => true,
    });
    const app = new PorticoApp({ logger: false })
      .use(
        new AuthenticationMiddleware({
          userModel: { loadUser: async () => bare as SimpleUser },
          backend: new APIKeyAuthBackend({ keys }),
        }),
      )
      .get("/", ({ user }) => [user.hasPermission("read"), user.hasPermission("write")])
      .get("/admin", ({ user }) => ({ isAdmin: (user as { readonly isAdmin?: boolean }).isAdmin }));
    const { key } = await keys.create(new SimpleUser("ann"), { permissions: ["read"] });

    expect((await testClient(app).get("/", by(key))).json()).toEqual([true, false]);
    expect((await testClient(app).get("/admin", by(key))).status).toBe(500);
  });
});

it("checking a session again during its request is not a use", async () => {
  const clock = manualClock(1_800_000_000_000);
  const store = new RecordingStore({ clock });
  const app = new PorticoApp({ logger: false, clock, stores: { ...memoryStores(), durable: store } })
    .use(new SessionMiddleware({ secret: SECRET }))
    .use(new AuthenticationMiddleware({ userModel, backend: new SessionAuthBackend() }))
    .post("/login", ({ request }) => request.sessions.login(new SimpleUser("ann")))
    .get("/", async ({ ctx, request }) => {
      clock.advance(3_600_000);
      const isValid = await ctx.identity.recheck?.();
      const [session] = await request.sessions.list();
      return { isValid, lastSeenAt: session?.lastSeenAt.getTime() };
    });
  const client = testClient(app);
  const cookie = cookieOf(await client.post("/login")) as string;

  expect((await client.get("/", { headers: { cookie } })).json()).toEqual({
    isValid: true,
    lastSeenAt: 1_800_000_000_000,
  });
});

it("a new password is read before the token of a reset link", async () => {
  const { app, post } = accountHarness();
  onTestFinished(() => app.close());

  expect((await post("/password/reset/confirm", { token: "unknown", password: "short" })).json()).toMatchObject({
    status: 422,
    code: "password_too_short",
    detail: "The password must be at least 8 bytes long.",
  });
  expect((await post("/password/reset/confirm", { token: "unknown", password: "long enough" })).status).toBe(400);
});

it("a caller whom the application has identified itself can create a key", async () => {
  const keys = new APIKeys();
  const app = new PorticoApp({ logger: false })
    .use(async (ctx, next) => {
      identify(ctx, { user: new SimpleUser("ann"), auth: "session" });
      await next();
    })
    .post("/keys", ({ user }) => keys.create(user));

  expect((await testClient(app).post("/keys")).json()).toMatchObject({ user: "ann" });
});

it("an unknown option of sessions.begin is named", async () => {
  const log = logCatcher();
  const app = new PorticoApp({ logger: log })
    .use(new SessionMiddleware({ secret: SECRET }))
    .post("/", ({ request }) => request.sessions.begin(new SimpleUser("ann"), { levle: "mfa" } as never));

  expect((await testClient(app).post("/")).status).toBe(500);
  expect(log.text).toContain(String.raw`sessions.begin: unknown option \"levle\"`);
});

it("publicKeySet names itself in its errors", () => {
  expect(() => publicKeySet([])).toThrow("publicKeySet must not be empty");
});

it("the tokens of accounts name their issuer, also after a refresh", async () => {
  const { app, post, client, users } = accountHarness({ account: { issuer: "https://shop.example" } });
  onTestFinished(() => app.close());
  await users.objects.createUser(ann);
  const first = (await post("/token", { identifier: "ann", password })).json() as Record<string, string>;
  const next = (await post("/refresh", { refresh_token: first["refresh_token"] })).json() as Record<string, string>;

  for (const { access_token = "" } of [first, next]) {
    expect(decodeJwt(access_token)).toMatchObject({ iss: "https://shop.example", aud: "bookshop" });
    const headers = { authorization: `Bearer ${access_token}` };
    expect((await client.get("/account/me", { headers })).status).toBe(200);
  }
});

it("an anonymous sign-out is reported without a user", async () => {
  const { app, post, events } = accountHarness();
  onTestFinished(() => app.close());

  expect((await post("/logout")).status).toBe(204);
  expect(events).toMatchObject([{ kind: "logged_out", user: null, actor: null }]);
});
