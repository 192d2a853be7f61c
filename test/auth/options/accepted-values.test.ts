import { memoryStores, PorticoApp, type PorticoRequest } from "portico";
import {
  APIKeyAuthBackend,
  APIKeys,
  AuthenticationBackend,
  AuthenticationMiddleware,
  AuthResult,
  authentication,
  github,
  JWTAuthBackend,
  SessionAuthBackend,
  SessionMiddleware,
  SimpleUser,
  useAuth,
} from "portico/auth";
import { describe, expect, it, onTestFinished } from "vitest";
import { accountHarness, ann, password } from "../accounts/account-harness.ts";
import { memoryUsers } from "../accounts/memory-users.ts";
import { RecordingStore } from "../sessions/recording-store.ts";
import { SECRET } from "../sessions/session-app.ts";

const userModel = SimpleUser;

/** Signs in with the header that it is given. */
class Signed extends AuthenticationBackend {
  readonly scope = "session";
  readonly #header: string | undefined;

  constructor(header: string | undefined) {
    super();
    this.#header = header;
  }

  override get headers(): readonly string[] {
    return this.#header === undefined ? [] : [this.#header];
  }

  async authenticate(request: PorticoRequest): Promise<AuthResult> {
    const name = request.headers["x-signature"];
    return name === undefined ? AuthResult.decline() : AuthResult.accept(name, this.scope);
  }
}

describe("options", () => {
  it.each<[string, () => unknown]>([
    ["APIKeys.bus must be a PubSub", () => new APIKeys({ bus: {} as never })],
    ["APIKeys.clock must be a clock with now() and monotonic()", () => new APIKeys({ clock: {} as never })],
    ["APIKeyAuthBackend.header must be a header name", () => new APIKeyAuthBackend({ header: "Cookie" })],
    ["APIKeyAuthBackend.header must be a header name", () => new APIKeyAuthBackend({ header: "x key" })],
    ["APIKeyAuthBackend.header must be a header name", () => new APIKeyAuthBackend({ header: "" })],
    ["APIKeyAuthBackend.header must be a header name", () => new APIKeyAuthBackend({ header: 5 as never })],
    [
      "JWTAuthBackend.realm must be printable ASCII",
      () => new JWTAuthBackend({ secretKey: SECRET, realm: 5 as never }),
    ],
    [
      "SessionMiddleware.absoluteSeconds must be a whole number of seconds from 1 to 34,560,000 (400 days)",
      () => new SessionMiddleware({ secret: SECRET, absoluteSeconds: 34_560_001 }),
    ],
    [
      "github.domains must be a list of domains",
      () => github({ clientId: "id", clientSecret: "x", domains: [["acme.com"] as never] }),
    ],
    ["JWTAuthBackend.clock must be a clock", () => new JWTAuthBackend({ secretKey: SECRET, clock: null as never })],
    ...[0, -1, 600.5, Number.NaN, "5"].map((timeoutSeconds): [string, () => unknown] => [
      "AuthenticationMiddleware.timeoutSeconds must be a number of seconds above 0",
      () => new AuthenticationMiddleware({ userModel, backend: [], timeoutSeconds: timeoutSeconds as number }),
    ]),
  ])("are refused with: %s (%#)", (message, build) => {
    expect(build).toThrow(message);
  });

  const preset = (options: object) => () =>
    authentication({ userModel: memoryUsers(), audience: "shop", secret: SECRET, ...options });

  it.each<[string, object]>([
    ["impersonation.permission must be a non-empty string", { impersonation: { permission: "" } }],
    ["impersonation.permission is missing", { impersonation: {} }],
    ["impersonation must be an object with permission", { impersonation: null }],
    ["impersonation must be an object with permission", { impersonation: "admin" }],
    ...[0, 86_401, 1.5, "60"].map((maxSeconds): [string, object] => [
      "impersonation.maxSeconds must be a whole number of seconds from 1 to 86,400",
      { impersonation: { permission: "act", maxSeconds } },
    ]),
    ["passkeys must be an object with rpName", { passkeys: null }],
    ["passkeys must be an object with rpName", { passkeys: "Shop" }],
    ["keys must be an APIKeys object", { keys: {} }],
    ["accounts must be a path that begins with", { accounts: "account" }],
    ["accounts must be a path that begins with", { accounts: true }],
    ["backends must be a list of AuthenticationBackend objects", { backends: [{}] }],
    ["userModel must be a user model with loadUser(identity) and objects", { userModel: null }],
    ["userModel must be a user model with loadUser(identity) and objects", { userModel: SimpleUser }],
    ["userModel must be a user model with loadUser(identity) and objects", { userModel: { objects: {} } }],
    ["breachCheckFailure must be", { breachCheckFailure: "ignore" }],
    ["freshSeconds must be a positive integer", { freshSeconds: 0 }],
    ['except must be a list of "register", "login"', { except: ["logins"] }],
    ...["//evil.example", "sign-in", "/sign-in?x", "/a#b", "/a\\b", "/a b", "ftp://a.example", 5].map(
      (signInPage): [string, object] => ["signInPage must be a URL, or a path that begins with", { signInPage }],
    ),
  ])("of authentication are refused with: %s (%#)", (message, options) => {
    expect(preset(options)).toThrow(`authentication.${message}`);
  });

  it.each([
    { impersonation: { permission: "act", maxSeconds: 1 } },
    { impersonation: { permission: "act", maxSeconds: 86_400 } },
    { signInPage: "https://app.example/sign-in", resetPage: "http://localhost/reset", verifyPage: "/verify" },
    { accounts: false, breachCheckFailure: "block", freshSeconds: 1, except: ["login", "sign-in-mails"] },
    { backends: [new Signed("X-Signature")], keys: new APIKeys() },
  ])("of authentication may be %j", (options) => {
    expect(preset(options)).not.toThrow();
  });

  it.each<() => unknown>([
    () => new APIKeyAuthBackend({ header: "X-Key!" }),
    () => new APIKeys({ bus: memoryStores().bus }),
    () => new SessionMiddleware({ secret: SECRET, idleSeconds: 1, absoluteSeconds: 34_560_000 }),
    () => new AuthenticationMiddleware({ userModel, backend: [], timeoutSeconds: 600 }),
    () => new AuthenticationMiddleware({ userModel, backend: new Signed("X-Signature"), timeoutSeconds: 0.001 }),
  ])("are accepted (%#)", (build) => {
    expect(build).not.toThrow();
  });

  it.each([[["read", ""]], [[1]], ["read"], [undefined]])(
    "the permissions of a key are not %j",
    async (permissions) => {
      const keys = new APIKeys({ store: memoryStores().durable });
      const given = { permissions: permissions as never };

      await expect(keys.create(new SimpleUser("ann"), given)).rejects.toThrow(
        "APIKeys.create.permissions must be a list of permissions",
      );
    },
  );

  it("authentication keeps everything of accounts in its own store", async () => {
    const [own, durable] = [new RecordingStore(), new RecordingStore()];
    const { app, post, session } = accountHarness({
      isOwned: true,
      stores: { ...memoryStores(), durable },
      account: { store: own },
    });
    onTestFinished(() => app.close());
    await post("/register", ann);
    const headers = await session();
    await post("/token", { identifier: "ann", password });
    await post("/keys", {}, undefined, headers);

    expect(durable.calls).toEqual([]);
    const kinds = new Set([...own.entries.keys()].map((key) => key.split(":")[0]));
    expect([...kinds]).toEqual(expect.arrayContaining(["session", "sessions-of", "refresh", "apikey", "apikeys-of"]));
  });
});

describe("the OpenAPI document", () => {
  const schemesOf = (backend: AuthenticationBackend): unknown =>
    new PorticoApp({ logger: false })
      .use(new AuthenticationMiddleware({ userModel, backend }))
      .get("/", { auth: useAuth() }, () => 1)
      .openapi().components?.securitySchemes;

  it("describes how each backend is used", () => {
    expect(schemesOf(new Signed("X-Signature"))).toEqual({
      session: { type: "apiKey", in: "header", name: "X-Signature" },
    });
    expect(schemesOf(new APIKeyAuthBackend())).toEqual({ apikey: { type: "apiKey", in: "header", name: "X-API-Key" } });
    expect(schemesOf(new APIKeyAuthBackend({ header: "X-Key" }))).toEqual({
      apikey: { type: "apiKey", in: "header", name: "x-key" },
    });
    expect(schemesOf(new JWTAuthBackend({ secretKey: SECRET, audience: "x" }))).toEqual({
      jwt: { type: "http", scheme: "bearer", bearerFormat: "JWT" },
    });
    expect(schemesOf(new SessionAuthBackend())).toEqual({
      session: { type: "apiKey", in: "cookie", name: "__Host-portico_session" },
    });
  });

  it("leaves out a backend without a header, and one with a cookie of an unknown name", () => {
    expect([new Signed(undefined).securityScheme, new Signed("Cookie").securityScheme]).toEqual([null, null]);
  });
});
