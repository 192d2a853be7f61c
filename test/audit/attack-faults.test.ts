import { decodeJwt } from "jose";
import { identify, PorticoApp, type PorticoRequest, Router } from "portico";
import {
  APIKeyAuthBackend,
  type AuthenticationBackend,
  AuthenticationMiddleware,
  AuthResult,
  JWTAuthBackend,
  PermissionDenied,
  SessionAuthBackend,
  SessionMiddleware,
  SimpleUser,
  useAuth,
} from "portico/auth";
import { Graph } from "portico/graphql";
import { expect, it, type TestContext, vi } from "vitest";
import { attack } from "../../src/audit/attack/attack.ts";
import type { AttackReport } from "../../src/audit/attack/attack-report.ts";
import { jwtOptions, notesApp, type Plant, SECRET } from "./notes-app.ts";

// An attack sends hundreds of requests, which share the machine with other tests. It mostly waits, so several run at once.
vi.setConfig({ testTimeout: 240_000 });

async function attacked({ onTestFinished }: TestContext, plant: Plant): Promise<AttackReport> {
  const app = notesApp(plant);
  onTestFinished(() => app.close());
  return attack(app);
}

const usual = (): AuthenticationBackend[] => [
  new JWTAuthBackend(jwtOptions),
  new SessionAuthBackend(),
  new APIKeyAuthBackend(),
];

/** The callers that differ, and the sentences about them. */
function found({ differences }: AttackReport): { readonly identities: readonly string[]; readonly sentences: string } {
  const identities = [...new Set(differences.map(({ identity }) => identity))].toSorted();
  return { identities, sentences: differences.map(({ sentence }) => sentence).join("\n") };
}

it.concurrent("finds a backend that remembers sessions, and so accepts revoked and expired ones", async (test) => {
  class RememberedSessions extends SessionAuthBackend {
    readonly #known = new Map<string, AuthResult>();
    override async authenticate(request: PorticoRequest): Promise<AuthResult> {
      const cookie = request.headers["cookie"] ?? "";
      const result = this.#known.get(cookie) ?? (await super.authenticate(request));
      if (result.success) this.#known.set(cookie, result);
      return result;
    }
  }

  const { identities, sentences } = found(await attacked(test, { backends: [new RememberedSessions(), ...usual()] }));

  expect(identities).toEqual(["a revoked session", "an expired session"]);
  expect(sentences).toContain(
    "GET /me: a revoked session is let in (200) by HTTP, but the gate must refuse this caller",
  );
  expect(sentences).toContain("Query.secret: a revoked session is let in (data) by GraphQL WebSocket /graphql, but");
});

it.concurrent("finds a backend that does not look at the expiry of tokens", async (test) => {
  class PatientTokens extends JWTAuthBackend {
    override async authenticate(request: PorticoRequest): Promise<AuthResult> {
      const result = await super.authenticate(request);
      const [, token] = request.headers["authorization"]?.split(" ") ?? [];
      if (result.success || token === undefined) return result;
      const { sub, credential_version: version } = decodeJwt(token);
      return AuthResult.accept(String(sub), "jwt", { version: Number(version) });
    }
  }

  const { identities, sentences } = found(
    await attacked(test, {
      backends: [new PatientTokens(jwtOptions), new SessionAuthBackend(), new APIKeyAuthBackend()],
    }),
  );

  expect(identities).toEqual(["an expired token"]);
  expect(sentences).toContain("GET /notes/:id: an expired token is let in (200) by HTTP");
});

it.concurrent("finds a backend that drops the version of a token, so that renewing credentials revokes nothing", async (test) => {
  class EndlessTokens extends JWTAuthBackend {
    override async authenticate(request: PorticoRequest): Promise<AuthResult> {
      const result = await super.authenticate(request);
      return result.success ? AuthResult.accept(result.identity, result.scope) : result;
    }
  }

  const { identities } = found(
    await attacked(test, {
      backends: [new EndlessTokens(jwtOptions), new SessionAuthBackend(), new APIKeyAuthBackend()],
    }),
  );

  expect(identities).toEqual(["an outdated token"]);
});

it.concurrent("finds a backend that names another scope than its own", async (test) => {
  class DisguisedKeys extends APIKeyAuthBackend {
    override async authenticate(request: PorticoRequest): Promise<AuthResult> {
      const result = await super.authenticate(request);
      return result.success ? { ...result, scope: "session", credential: { signedInAt: Date.now() } } : result;
    }
  }

  const { identities, sentences } = found(
    await attacked(test, { backends: [new JWTAuthBackend(jwtOptions), new SessionAuthBackend(), new DisguisedKeys()] }),
  );

  expect(identities).toContain("a user with every permission (by API key)");
  expect(sentences).toContain("GET /keys: a user with every permission (by API key) is let in (200) by HTTP, but");
});

it.concurrent("finds a backend that ignores the permissions of a key", async (test) => {
  class WideKeys extends APIKeyAuthBackend {
    override async authenticate(request: PorticoRequest): Promise<AuthResult> {
      const result = await super.authenticate(request);
      return result.success ? AuthResult.accept(result.identity, result.scope) : result;
    }
  }

  const { identities, sentences } = found(
    await attacked(test, { backends: [new JWTAuthBackend(jwtOptions), new SessionAuthBackend(), new WideKeys()] }),
  );

  expect(identities).toContain("an API key narrowed to nothing");
  expect(identities).toContain("an API key narrowed to everything but read:notes");
  expect(sentences).toContain("WebSocket /live: an API key narrowed to nothing is let in (101) by WebSocket");
});

it.concurrent("finds a user class that grants every permission", async (test) => {
  class Trusting extends SimpleUser {
    override hasPermission(): boolean {
      return true;
    }
  }

  const { identities, sentences } = found(await attacked(test, { userModel: Trusting }));

  expect(identities).toContain("a user with no permission (by token)");
  expect(sentences).toContain("Note.author: a user with every permission but read:authors (by token) is let in (data)");
  expect(sentences).toMatch(/Mutation\.illustrate: .* is let in \(data\) by GraphQL upload \/graphql/);
  expect(sentences).toMatch(/Subscription\.written: .* is let in \(an open event stream\) by GraphQL SSE/);
  expect(sentences).toMatch(/Subscription\.written: .* is let in \(an open subscription\) by GraphQL WebSocket/);
  expect(sentences).toMatch(/DELETE \/notes\/:id: .* is let in \(204\) by HTTP/);
});

it.concurrent("finds a user class that compares permissions by their first word", async (test) => {
  class Careless extends SimpleUser {
    override hasPermission(permission: string): boolean {
      const [verb = ""] = permission.split(":");
      return this.permissions.some((name) => name.startsWith(verb));
    }
  }

  const { identities } = found(await attacked(test, { userModel: Careless }));

  expect(identities).toContain("a user with every permission but read:notes (by token)");
});

it.concurrent("finds a user class whose narrowedTo narrows nothing", async (test) => {
  class Wide extends SimpleUser {
    narrowedTo(): this {
      return this;
    }
  }

  const { identities } = found(await attacked(test, { userModel: Wide }));

  expect(identities).toContain("an API key narrowed to nothing");
  expect(identities.every((name) => name.startsWith("an API key narrowed to"))).toBe(true);
});

it.concurrent("finds middleware that signs every caller in on sockets", async (test) => {
  const { differences } = await attacked(test, {
    before: (app) =>
      app.use(async (ctx, next) => {
        if (ctx.kind === "websocket" && !ctx.user.isAuthenticated)
          identify(ctx, { user: new SimpleUser("guest", ["read:notes"]), auth: "session" });
        await next();
      }),
  });

  expect(new Set(differences.map(({ transport }) => transport))).toEqual(new Set(["GraphQL WebSocket", "WebSocket"]));
  expect(differences.map(({ sentence }) => sentence)).toContain(
    "WebSocket /live: an anonymous caller is let in (101) by WebSocket, but the gate must refuse this caller",
  );
});

it.concurrent("finds a second endpoint that serves the same schema without the gate of the first", async (test) => {
  const { differences } = await attacked(test, {
    after: (app, notes) => new Graph(notes, { path: "/internal" }).mount(app),
  });

  expect(new Set(differences.map(({ endpoint }) => endpoint))).toEqual(new Set(["/internal"]));
  expect(differences.map(({ sentence }) => sentence)).toContain(
    "Query.notes: an anonymous caller is let in (data) by GraphQL POST /internal, but the endpoint /graphql of the same schema must refuse this caller",
  );
});

it.concurrent("finds a gate that refuses every caller, because its route has no authentication", async (test) => {
  const signedIn = new Router().use(new AuthenticationMiddleware({ userModel: SimpleUser, backend: usual() }));
  signedIn.get("/notes", { auth: useAuth({ permissions: ["read:notes"] }) }, () => []);
  const app = new PorticoApp({ logger: false }).use(new SessionMiddleware({ secret: SECRET })).mount("/api", signedIn);
  app.get("/notes", { auth: useAuth({ permissions: ["read:notes"] }) }, () => []);
  test.onTestFinished(() => app.close());

  const { differences } = await attack(app);

  expect(differences.map(({ sentence }) => sentence)).toEqual(
    ["API key", "session", "token"].map(
      (noun) =>
        `GET /notes: a user with every permission (by ${noun}) is refused (401 unauthenticated) by HTTP, but the gate must let this caller in`,
    ),
  );
});

it.concurrent("finds an exception handler that responds with 200 to a refusal", async (test) => {
  const { differences } = await attacked(test, {
    after: (app) => app.addExceptionHandler(PermissionDenied, (_request, response) => response.json({ ok: true })),
  });

  expect(differences.map(({ sentence }) => sentence)).toContain(
    "GET /notes/:id: a user with no permission (by token) is let in (200) by HTTP, but the gate must refuse this caller",
  );
});

it.concurrent("finds a gate that depends on the method, so that transports differ", async (test) => {
  const { differences } = await attacked(test, {
    after: (app, notes) =>
      new Graph(notes, { path: "/posts", auth: (_user, { request }) => request.method === "POST" }).mount(app),
  });

  expect(differences.map(({ sentence }) => sentence)).toContain(
    "Query.keyed at /posts: a user with every permission (by API key) is refused (FORBIDDEN) by GraphQL GET /posts, but not by most transports",
  );
});
