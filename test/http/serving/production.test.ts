import { memoryStores, PorticoApp, type PorticoAppOptions, rateLimit } from "portico";
import {
  APIKeyAuthBackend,
  AuthenticationMiddleware,
  type AuthenticationOptions,
  accountRoutes,
  authentication,
  consoleMailer,
  github,
  SessionMiddleware,
  SimpleUser,
} from "portico/auth";
import { field, Graph, mutation, type ObjectType, object, schema, t } from "portico/graphql";
import { migrate, openDatabase, userModel } from "portico/sql";
import { logCatcher, testClient } from "portico/testing";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { memoryUsers } from "../../auth/accounts/memory-users.ts";

const secret = "a secret of the tests, which is long enough";
const publicUrl = "https://shop.example";
const stores = memoryStores();
const hello = field(t.string)(() => "world");

beforeEach(() => void vi.stubEnv("NODE_ENV", "production"));
afterEach(() => void vi.unstubAllEnvs());

function application(options: PorticoAppOptions = {}): PorticoApp {
  const app = new PorticoApp({ logger: false, ...options });
  onTestFinished(() => app.close());
  return app.get("/", () => "started");
}

interface Migrated {
  "~pendingMigrations"(): Promise<readonly string[]>;
}

/** The status of a response, or the reason why the application does not start. */
async function start(app: PorticoApp): Promise<number | string> {
  return app.inject("/").then(
    ({ status }) => status,
    (error: Error) => `${error.name}: ${error.message}`,
  );
}

function signIn(options: Partial<AuthenticationOptions> = {}): ReturnType<typeof authentication> {
  const mailer = async (): Promise<void> => {};
  return authentication({ userModel: memoryUsers(), secret, audience: "shop", mailer, ...options });
}

describe("NODE_ENV", () => {
  it.each(["prod", "Production", "staging", " production"])("stops the startup if it is %j", async (value) => {
    vi.stubEnv("NODE_ENV", value);

    expect(await start(application())).toBe(
      `ConfigurationError: NODE_ENV is ${JSON.stringify(value)}, so defaults are for development. Set it to production, development or test`,
    );
  });

  it.each(["production", "development", "test", ""])("may be %j", async (value) => {
    vi.stubEnv("NODE_ENV", value);

    expect(await start(application())).toBe(200);
  });
});

describe("the public URL in production", () => {
  const missing = (users: string): string =>
    `ConfigurationError: PorticoApp.publicUrl is not set, but ${users} need it. Set it to the URL that users open`;
  const pages = {
    resetPage: "https://x.example/r",
    verifyPage: "https://x.example/v",
    emailPage: "https://x.example/e",
  };
  const provider = github({ clientId: "id", clientSecret: "secret" });
  const passkeys = { rpName: "Shop" };
  const bound = { ...passkeys, rpId: "x.example", origins: ["https://x.example"] };

  it.each<[string, Partial<AuthenticationOptions>]>([
    ["links in emails", {}],
    ["links in emails", { ...pages, emailPage: "/change-email" }],
    ["links in emails", { ...pages, signInMails: true }],
    ["identity providers", { ...pages, providers: [provider] }],
    ["passkeys", { ...pages, passkeys }],
    ["passkeys", { ...pages, passkeys: { ...passkeys, rpId: "x.example" } }],
  ])("is required for %s, with %j", async (users, options) => {
    expect(await start(application({ stores }).use(signIn(options)))).toBe(missing(users));
    expect(await start(application({ stores, publicUrl }).use(signIn(options)))).toBe(200);
  });

  it.each<[string, Partial<AuthenticationOptions>]>([
    ["there are no account routes", { accounts: false, pages: false }],
    ["all pages are of another site", pages],
    ["no route sends emails", { except: ["reset", "verify", "email", "sign-in-mails"] }],
    ["passkeys have an id and origins", { ...pages, passkeys: bound }],
  ])("is not required if %s", async (_why, options) => {
    expect(await start(application({ stores }).use(signIn(options)))).toBe(200);
  });

  it("is not required without sign-in, nor outside production", async () => {
    expect(await start(application())).toBe(200);
    vi.stubEnv("NODE_ENV", "development");
    expect(await start(application().use(signIn({ mailer: consoleMailer() })))).toBe(200);
  });
});

describe("the stores in production", () => {
  const inMemory = (kept: string): string =>
    `ConfigurationError: PorticoApp.stores is the memory of the process: ${kept} are lost when it ends, and a second process has its own. Use redisStores or sqlStores, or pass memoryStores() if that is intended`;
  const { durable } = memoryStores();
  const keys = (options: object): AuthenticationMiddleware =>
    new AuthenticationMiddleware({ userModel: SimpleUser, backend: new APIKeyAuthBackend(options) });

  const limitedMutation =
    (options: object) =>
    (app: PorticoApp): PorticoApp => {
      const order = mutation(t.boolean, { limit: rateLimit({ perMinute: 30, ...options }) })(() => true);
      new Graph(schema({ query: { hello }, mutation: { order } })).mount(app);
      return app;
    };
  const limitedProperty = (app: PorticoApp): PorticoApp => {
    const shop: ObjectType<{ readonly visits: number }> = object("Shop", {
      visits: field(t.int, { limit: rateLimit({ perMinute: 30 }) }),
    });
    new Graph(schema({ query: { shop: field(shop)(() => ({ visits: 1 })) } })).mount(app);
    return app;
  };

  it.each<[string, (app: PorticoApp) => PorticoApp]>([
    ["sessions", (app) => app.use(new SessionMiddleware({ secret }))],
    ["API keys", (app) => app.use(keys({}))],
    ["rate limits", (app) => app.post("/orders", { middleware: [rateLimit({ perMinute: 30 })] }, () => "ordered")],
    ["rate limits", (app) => app.use(rateLimit({ perMinute: 30 }))],
    ["rate limits", limitedMutation({})],
    ["rate limits", limitedProperty],
    ["sessions", (app) => app.use(signIn())],
    [
      "tokens and limits of attempts",
      (app) =>
        app.mount(
          "/account",
          accountRoutes({ userModel: memoryUsers(), secret, audience: "shop", mailer: async () => {} }),
        ),
    ],
  ])("must be named for %s", async (kept, complete) => {
    expect(await start(complete(application({ publicUrl })))).toBe(inMemory(kept));
    expect(await start(complete(application({ publicUrl, stores: memoryStores() })))).toBe(200);
    vi.stubEnv("NODE_ENV", "test");
    expect(await start(complete(application({ publicUrl })))).toBe(200);
  });

  it("must be named for a budget", async () => {
    expect(await start(application({ budget: { addressPerMinute: 100 } }))).toBe(inMemory("budgets"));
    expect(await start(application({ budget: { addressPerMinute: 100 }, stores }))).toBe(200);
  });

  it.each<[string, (app: PorticoApp) => PorticoApp]>([
    ["sessions", (app) => app.use(new SessionMiddleware({ secret, store: durable }))],
    ["API keys", (app) => app.use(keys({ store: durable }))],
    ["rate limits", (app) => app.use(rateLimit({ perMinute: 30, store: memoryStores().counters }))],
    ["rate limits", limitedMutation({ store: memoryStores().counters })],
  ])("need not be named if %s have a store of their own", async (_what, complete) => {
    expect(await start(complete(application()))).toBe(200);
  });
});

describe("the database of the users in production", () => {
  const PENDING =
    "ConfigurationError: the database: 4 migrations are pending: 0001_users, 0002_permissions_and_roles, 0003_stores, 0004_outbox. Run portico migrate up";

  it("stops the startup until it is migrated, whatever the stores are", async () => {
    const database = openDatabase("sqlite::memory:");
    onTestFinished(() => database.destroy());
    const shop = (): PorticoApp =>
      application({ publicUrl, stores }).use(signIn({ userModel: class extends userModel(database) {} }));

    expect(await start(shop())).toBe(PENDING);
    vi.stubEnv("NODE_ENV", "development");
    expect(await start(application({ stores }).use(signIn({ userModel: userModel(database) })))).toBe(200);
    vi.stubEnv("NODE_ENV", "production");
    await migrate(database, "up");
    expect(await start(shop())).toBe(200);
  });

  it("is not ready as long as its migrations are unknown, and ready once they are applied", async () => {
    const database = openDatabase("sqlite::memory:");
    onTestFinished(() => database.destroy());
    await migrate(database, "up");
    const User = userModel(database);
    const found = vi
      .spyOn(User as unknown as Migrated, "~pendingMigrations")
      .mockRejectedValueOnce(new Error("refused"));
    const log = logCatcher();
    const client = testClient(application({ publicUrl, stores, logger: log }).use(signIn({ userModel: User })));
    found.mockRejectedValueOnce(new Error("refused")).mockResolvedValueOnce(["0004_shelves"]);
    const ready = async (): Promise<unknown> => {
      const { status, json } = await client
        .get("/readyz")
        .then((answer) => ({ status: answer.status, json: answer.json() }));
      return [status, (json as { readonly checks: { readonly migrations: unknown } }).checks.migrations];
    };

    expect(await ready()).toEqual([503, "failed"]);
    expect(await ready()).toEqual([503, "failed"]);
    expect(await ready()).toEqual([200, "ok"]);
    const asked = found.mock.calls.length;
    expect(await ready()).toEqual([200, "ok"]);
    expect(found.mock.calls.length).toBe(asked);
    expect(log.text).toContain("the migrations could not be checked");
  });
});
