import { not, PorticoApp, type UserProtocol } from "portico";
import {
  APIKeyAuthBackend,
  APIKeys,
  AuthenticationMiddleware,
  SessionAuthBackend,
  SessionMiddleware,
  TokenForUser,
  UserBaseModel,
  useAuth,
} from "portico/auth";
import { field, Graph, schema, t } from "portico/graphql";
import { userModel } from "portico/sql";
import { testClient } from "portico/testing";
import { expect, it, onTestFinished } from "vitest";
import { migratedPlace } from "../../sql/accounts/databases.ts";
import { by, make } from "../api-keys/key-app.ts";
import { HeaderBackend } from "../backends/recording-backend.ts";

/** Each member is one way in which applications say that a user may do more. */
class Administrator extends UserBaseModel {
  readonly identity: string;
  readonly displayName: string;
  readonly roles = new Set(["admin"]);
  readonly role = "admin";
  readonly is_superuser = 1;
  readonly isStaff = true;
  readonly #isRoot = true;
  readonly hasRole = (role: string): boolean => this.roles.has(role);

  constructor(name: string) {
    super(["read:books", "delete:books"]);
    this.identity = name;
    this.displayName = name;
  }
  get isAdmin(): boolean {
    return this.roles.has("admin");
  }
  get isRoot(): boolean {
    return this.#isRoot;
  }
  isModerator(): boolean {
    return true;
  }
}

/** The ways to ask. */
const asks: Readonly<Record<string, (user: Administrator) => boolean>> = {
  permission: (user) => user.hasPermission("delete:books"),
  list: (user) => user.permissions.includes("delete:books"),
  roles: (user) => user.roles.has("admin"),
  role: (user) => user.role === "admin",
  column: (user) => user.is_superuser === 1,
  flag: (user) => user.isStaff,
  getter: (user) => user.isAdmin,
  private: (user) => user.isRoot,
  method: (user) => user.isModerator(),
  arrow: (user) => user.hasRole("admin"),
};

function appOf(loadUser: (identity: string) => Promise<UserProtocol | null>): PorticoApp {
  const keys = new APIKeys();
  const app = new PorticoApp({ logger: false }).use(
    new AuthenticationMiddleware({
      userModel: { loadUser },
      backend: [new HeaderBackend("session"), new APIKeyAuthBackend({ keys })],
    }),
  );
  return app.post("/keys", { auth: useAuth() }, ({ user }) => keys.create(user, { permissions: ["read:books"] }));
}

it.each(Object.keys(asks))(
  "[auth:AU-154] a narrowed key denies an administrator by %s, on a route and in a graph",
  async (name) => {
    const ask = asks[name] as (user: Administrator) => boolean;
    const app = appOf(async (identity) => new Administrator(identity));
    app.get("/ask", { auth: useAuth() }, ({ user }) => ask(user as unknown as Administrator));
    const asksIt = (user: unknown): boolean => ask(user as Administrator);
    app.get("/gated", { auth: asksIt }, () => "secret").get("/not", { auth: not(asksIt) }, () => "open");
    const gated = field(t.nullable(t.string), { auth: (user) => ask(user as unknown as Administrator) })(
      () => "secret",
    );
    new Graph(schema({ query: { gated } })).mount(app);
    const client = testClient(app);
    const { key } = await make(client);
    const session = { headers: { "x-session": "ann" } };

    expect((await client.get("/ask", session)).json()).toBe(true);
    expect((await client.graphql("{ gated }", {}, session)).data).toEqual({ gated: "secret" });
    // These have an answer for the key. All others are denied.
    const isList = ["permission", "list", "roles"].includes(name);
    const asked = await client.get("/ask", by(key));
    expect(asked.status === 200 ? asked.json() : asked.status).toBe(isList ? false : 500);
    expect((await client.graphql("{ gated }", {}, by(key))).data).toEqual({ gated: null });
    expect((await client.get("/gated", by(key))).status).toBe(403);
    // A member that says that the user may not do something is denied as well.
    expect((await client.get("/not", by(key))).status).toBe(isList ? 200 : 403);
  },
);

it("[auth:AU-154] a narrowed key has none of its owner's roles in the database", async () => {
  const place = await migratedPlace("SQLite");
  onTestFinished(() => place.remove());
  const User = userModel(place.open());
  await User.objects.defineRole("admin", ["delete:books", "read:books"]);
  const ann = await User.objects.createUser({ email: "ann@example.org", username: "ann", password: "correct horse" });
  await User.objects.grant(ann, { roles: ["admin"] });
  const app = appOf((identity) => User.loadUser(identity));
  app.get("/whole", { auth: useAuth() }, ({ user }) => ({ ...user }));
  const client = testClient(app);
  const session = { "x-session": ann.identity };
  const { key } = (await client.post("/keys", { headers: session })).json() as { key: string };

  expect((await client.get("/whole", { headers: session })).json()).toMatchObject({ roles: ["admin"] });
  expect((await client.get("/whole", by(key))).json()).toMatchObject({
    email: "ann@example.org",
    username: "ann",
    permissions: ["read:books"],
    roles: [],
  });
});

it("a narrowed key gets neither a session nor a token, which would lift the restriction", async () => {
  const secret = "a secret of the tests, which is long enough";
  const keys = new APIKeys();
  const app = new PorticoApp({ logger: false }).use(new SessionMiddleware({ secret })).use(
    new AuthenticationMiddleware({
      userModel: { loadUser: async (name) => new Administrator(name) },
      backend: [new SessionAuthBackend(), new HeaderBackend("jwt"), new APIKeyAuthBackend({ keys })],
    }),
  );
  app.post("/keys", { auth: useAuth() }, ({ user }) => keys.create(user, { permissions: ["read:books"] }));
  app.post("/wide", { auth: useAuth() }, ({ user }) => keys.create(user));
  app.post("/login", { auth: useAuth() }, ({ user, request }) => request.sessions.login(user));
  app.post("/begin", { auth: useAuth() }, ({ user, request }) => request.sessions.begin(user));
  app.post("/token", { auth: useAuth() }, ({ user }) => new TokenForUser(user, { secret: secret }).tokenPair());
  const client = testClient(app);
  const eve = { headers: { "x-jwt": "eve" } };
  const made = async (path: string) => ((await client.post(path, eve)).json() as { key: string }).key;
  const statuses = (request: object) =>
    Promise.all(["/login", "/begin", "/token"].map(async (path) => (await client.post(path, request)).status));

  expect(await statuses(by(await made("/keys")))).toEqual([403, 403, 403]);
  expect(await statuses(by(await made("/wide")))).toEqual([204, 200, 200]);
  expect(await statuses(eve)).toEqual([204, 200, 200]);
});
