import { SignJWT } from "jose";
import { memoryStores, PorticoApp, type PorticoRequest, rateLimit } from "portico";
import {
  APIKeyAuthBackend,
  AuthenticationBackend,
  AuthenticationMiddleware,
  AuthResult,
  JWTAuthBackend,
  SimpleUser,
  useAuth,
} from "portico/auth";
import { testClient } from "portico/testing";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { attack } from "../../src/audit/attack/attack.ts";
import { attackLines } from "../../src/audit/attack/attack-lines.ts";
import { notesApp } from "./notes-app.ts";

// An attack sends hundreds of requests, which share the machine with other tests.
vi.setConfig({ testTimeout: 240_000 });

function closing(app: PorticoApp): PorticoApp {
  onTestFinished(() => app.close());
  return app;
}

it("an application without faults has no differences, and nothing is executed", async () => {
  const ran: string[] = [];

  const report = await attack(closing(notesApp({ ran })));

  expect(report.differences).toEqual([]);
  expect(ran).toEqual([]);
  expect(report.unreached).toEqual([]);
  expect(report.notes).toEqual([]);
  expect(report.places).toBe(16);
  expect(attackLines(report)).toEqual([
    `attack: 16 places, ${report.tried} requests, 0 differ from the declaration, 0 not checked`,
  ]);
});

it("leaves no credential and no user behind", async () => {
  const stores = memoryStores();
  const written = new Set<string>();
  for (const method of ["set", "setIfAbsent", "compareAndSet"] as const) {
    const write = stores.durable[method].bind(stores.durable) as (...args: unknown[]) => Promise<never>;
    vi.spyOn(stores.durable, method).mockImplementation((...args: unknown[]) => {
      written.add(args[0] as string);
      return write(...args);
    });
  }
  const app = closing(notesApp({ options: { stores } }));

  await attack(app);

  expect(written.size).toBeGreaterThan(10);
  await expect
    .poll(async () => (await Promise.all([...written].map((key) => stores.durable.get(key)))).filter(Boolean))
    .toEqual([]);
});

it("does not attack in production", async () => {
  vi.stubEnv("NODE_ENV", "production");
  onTestFinished(() => void vi.unstubAllEnvs());
  const app = closing(new PorticoApp({ logger: false }));

  await expect(attack(app)).rejects.toThrow("portico audit must not attack in production");
});

it("stand-ins cannot sign in in production", async () => {
  const app = closing(new PorticoApp({ logger: false }));
  app.actors.standIn(new SimpleUser("stand-in"));
  expect(app.actors.standInOf("stand-in")).toBeDefined();
  vi.stubEnv("NODE_ENV", "production");
  onTestFinished(() => void vi.unstubAllEnvs());

  expect(app.actors.standInOf("stand-in")).toBeUndefined();
  expect(() => app.actors.standIn(new SimpleUser("other"))).toThrow("must not attack in production");
});

class PartnerBackend extends AuthenticationBackend {
  readonly scope = "partner" as never;
  async authenticate({ headers }: PorticoRequest): Promise<AuthResult> {
    return headers["x-partner"] === undefined ? AuthResult.decline() : AuthResult.accept("acme", this.scope);
  }
}

it("tries given identities, for backends that it has no credentials for", async () => {
  const userModel = { loadUser: async (name: string) => new SimpleUser(name, ["read:books"]) };
  const app = closing(new PorticoApp({ logger: false }));
  app.use(new AuthenticationMiddleware({ userModel, backend: [new PartnerBackend(), new APIKeyAuthBackend()] }));
  app.get("/books", { auth: useAuth({ permissions: ["read:books"] }) }, () => []);
  const partner = { headers: { "x-partner": "acme" }, scope: "partner" as never };

  const { differences, notes, gaps } = await attack(app, {
    identities: {
      "a partner": { ...partner, permissions: ["read:books"] },
      "a partner who is told to have none": { ...partner, permissions: [] },
      "a former partner": { ...partner, permissions: null },
    },
  });

  expect(differences.map(({ identity }) => identity)).toEqual([
    "a former partner",
    "a partner who is told to have none",
  ]);
  expect(notes).toEqual(["the user model is not a class, so stand-ins are plain users with a list of permissions"]);
  expect(gaps).toEqual([]);
});

it("says which sign-in method has no caller", async () => {
  const app = closing(new PorticoApp({ logger: false }));
  app.use(new AuthenticationMiddleware({ userModel: SimpleUser, backend: [new PartnerBackend()] }));
  app.get("/books", { auth: true }, () => []);

  const { gaps } = await attack(app);

  expect(gaps).toEqual([
    "no credential could be issued for the scope partner: pass headers for it in attack.identities",
  ]);
});

describe("an application that requires another claim in its tokens", () => {
  const secret = "a secret that is long enough for tokens";
  const serve = () => {
    const userModel = { loadUser: async (name: string) => new SimpleUser(name, ["read:books"]) };
    const app = closing(new PorticoApp({ logger: false }));
    const backend = new JWTAuthBackend({
      secretKey: secret,
      identifier: "sub",
      isRevoked: ({ type }) => type !== "access",
    });
    app.use(new AuthenticationMiddleware({ userModel, backend }));
    app.get("/open", () => "open");
    app.get("/books", { auth: useAuth({ permissions: ["read:books"] }) }, () => []);
    return app;
  };

  it("is not checked with tokens that it rejects, and nothing differs", async () => {
    const report = await attack(serve());

    expect(report.differences).toEqual([]);
    expect(report.gaps).toEqual([
      "the application rejects the credentials that were issued for the scope jwt, such as tokens without a claim that it requires: issue them in attack.signIn",
    ]);
    expect(attackLines(report)).toContain(`not checked: ${report.gaps[0]}`);
  });

  it("is attacked with the tokens that it issues", async () => {
    const key = new TextEncoder().encode(secret);
    const { differences, gaps, tried } = await attack(serve(), {
      signIn: async ({ identity, state }) => {
        if (state !== "valid") return undefined;
        const token = await new SignJWT({ type: "access" })
          .setProtectedHeader({ alg: "HS256" })
          .setSubject(identity)
          .setExpirationTime("1h")
          .sign(key);
        return { authorization: `Bearer ${token}` };
      },
    });

    expect(differences).toEqual([]);
    expect(gaps).toEqual([]);
    expect(tried).toBeGreaterThan(4);
  });
});

it("does not attack places that are skipped", async () => {
  const app = closing(new PorticoApp({ logger: false }));
  app.get("/books", { auth: useAuth() }, () => []);

  const { places, notes } = await attack(app, { skip: ["GET /books"] });

  expect(places).toBe(0);
  expect(notes).toEqual([
    "the application has no AuthenticationMiddleware, so only anonymous and given callers were tried",
  ]);
});

it("names the methods of a user class that stand-ins cannot use", async () => {
  class Member extends SimpleUser {
    readonly #granted = ["read:books"];
    override hasPermission(name: string): boolean {
      return this.#granted.includes(name);
    }
    narrowedTo(names: readonly string[]): Member {
      return this.#granted.every((name) => names.includes(name)) ? this : new Member(this.username);
    }
  }
  const app = closing(new PorticoApp({ logger: false }));
  app.use(new AuthenticationMiddleware({ userModel: Member, backend: new APIKeyAuthBackend() }));
  app.get("/books", { auth: useAuth({ permissions: ["read:books"] }) }, () => []);

  const { differences, notes } = await attack(app);

  expect(differences).toEqual([]);
  expect(notes).toEqual([
    "the class Member does not decide by a list named permissions, so its hasPermission was not attacked",
    "Member.narrowedTo cannot run for a stand-in, so it was not attacked",
  ]);
});

// Other systems have one local address only, and the requests above the limit are reported as not checked.
it.skipIf(process.platform !== "linux")("is not stopped by limits per address", async () => {
  const limit = rateLimit({ perHour: 5 });
  const app = notesApp({ before: (app) => app.use(limit) });
  const { status } = await testClient(closing(app)).get("/open");
  expect(status).toBe(200);

  const { differences, unreached } = await attack(app);

  expect(differences).toEqual([]);
  expect(unreached).toEqual([]);
});
