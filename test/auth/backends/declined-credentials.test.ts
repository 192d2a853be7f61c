import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { BadRequest, memoryStores, PorticoApp } from "portico";
import {
  APIKeyAuthBackend,
  APIKeys,
  AuthenticationBackend,
  AuthenticationMiddleware,
  AuthResult,
  JWTAuthBackend,
  SessionAuthBackend,
  SessionMiddleware,
  SimpleUser,
} from "portico/auth";
import { type CaughtLine, logCatcher, testClient } from "portico/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { by } from "../api-keys/key-app.ts";
import { COOKIE, cookieOf } from "../sessions/session-app.ts";
import { backendFor, bearing, claims, clock, forge, SECRET } from "../tokens/token-app.ts";

type Headers = Readonly<Record<string, string>>;

/** Returns whatever a test says, or throws it. */
class Scripted extends AuthenticationBackend {
  readonly scope = "session";
  readonly #answer: () => unknown;

  constructor(answer: () => unknown) {
    super();
    this.#answer = answer;
  }

  async authenticate(): Promise<AuthResult> {
    return this.#answer() as AuthResult;
  }
}

/** Ann, whose credentials were renewed once. */
class Ann extends SimpleUser {
  readonly credentialVersion = 2;

  static override async loadUser(identity: string): Promise<SimpleUser | null> {
    return identity === "ann" ? new Ann("ann") : null;
  }
}

/** The lines that a request leaves in the log, of the backends that declined or failed. */
async function linesOf(backend: AuthenticationBackend, headers: Headers = {}): Promise<readonly CaughtLine[]> {
  const log = logCatcher();
  const app = new PorticoApp({ logger: log, clock })
    .use(new SessionMiddleware({ secret: SECRET }))
    .use(new AuthenticationMiddleware({ userModel: Ann, backend }))
    .get("/", ({ user }) => user.identity);
  await testClient(app).get("/", { headers });
  return log.lines.filter(({ scope }) => scope !== undefined);
}

describe("the reason for a declined credential is logged:", () => {
  const declined = (scope: string, reason: string): object => ({
    level: "debug",
    msg: "an authentication backend declined",
    scope,
    reason,
  });

  it.each<[string, () => AuthenticationBackend, Headers]>([
    ["no bearer token", () => backendFor(), {}],
    ["the token is too long", () => backendFor({ maxTokenBytes: 10 }), bearing(forge(claims)).headers],
    ["the token is not valid", () => backendFor(), bearing("a.b.c").headers],
    ["the token has no claim uid", () => backendFor({ identifier: "uid" }), bearing(forge(claims)).headers],
    ["the token is revoked", () => backendFor({ isRevoked: async () => true }), bearing(forge(claims)).headers],
    [
      "the session of the token has ended",
      () => backendFor({ sessionStore: memoryStores().durable }),
      bearing(forge({ ...claims, sid: "s1" })).headers,
    ],
    ["the user was not found", () => backendFor(), bearing(forge({ ...claims, sub: "bob" })).headers],
    [
      "the credential was issued before the user's credentials were renewed",
      () => backendFor(),
      bearing(forge({ ...claims, credential_version: 1 })).headers,
    ],
  ])("jwt: %s", async (reason, backend, headers) => {
    expect(await linesOf(backend(), headers)).toMatchObject([declined("jwt", reason)]);
  });

  it.each<[string, Headers]>([
    ["no API key, or more than one", {}],
    ["the API key is not valid", by("pk_x").headers],
  ])("apikey: %s", async (reason, headers) => {
    expect(await linesOf(new APIKeyAuthBackend(), headers)).toMatchObject([declined("apikey", reason)]);
  });

  it("apikey: the API key has exceeded its rate limit", async () => {
    const log = logCatcher();
    const keys = new APIKeys({ store: memoryStores().durable });
    const { key } = await keys.create(new SimpleUser("ann"), { perMinute: 1 });
    const app = new PorticoApp({ logger: log })
      .use(new AuthenticationMiddleware({ userModel: Ann, backend: new APIKeyAuthBackend({ keys }) }))
      .get("/", ({ user }) => user.identity);
    const client = testClient(app);

    expect([(await client.get("/", by(key))).json(), (await client.get("/", by(key))).json()]).toEqual(["ann", ""]);
    expect(log.lines.filter(({ scope }) => scope !== undefined)).toMatchObject([
      declined("apikey", "the API key has exceeded its rate limit"),
    ]);
  });

  const unknown = `${COOKIE}=${"A".repeat(43)}.${"A".repeat(43)}`;
  it.each<[string, Headers]>([
    ["no session cookie", {}],
    ["no session cookie", { cookie: "theme=dark" }],
    ["the session cookie is malformed, badly signed or sent twice", { cookie: unknown }],
    ["the session cookie is malformed, badly signed or sent twice", { cookie: `${COOKIE}=x` }],
  ])("session: %s (%#)", async (reason, headers) => {
    expect(await linesOf(new SessionAuthBackend(), headers)).toMatchObject([declined("session", reason)]);
  });

  it("session: the session has ended, or a page of another origin sent the cookie", async () => {
    const log = logCatcher();
    const app = new PorticoApp({ logger: log })
      .use(new SessionMiddleware({ secret: SECRET }))
      .use(new AuthenticationMiddleware({ userModel: Ann, backend: new SessionAuthBackend() }))
      .post("/login", ({ request }) => request.sessions.login(new SimpleUser("ann")))
      .post("/logout", ({ request }) => request.sessions.logout());
    const client = testClient(app);
    const cookie = cookieOf(await client.post("/login")) as string;
    log.clear();
    await client.post("/logout", { headers: { cookie, origin: "https://evil.example" } });
    await client.post("/logout", { headers: { cookie } });
    await client.post("/logout", { headers: { cookie } });

    expect(log.lines.filter(({ scope }) => scope !== undefined)).toMatchObject([
      declined("session", "a page of another origin sent the session cookie"),
      declined("session", "the session has ended"),
    ]);
  });

  it("the backend rejected the request", async () => {
    const backend = new Scripted(() => {
      throw new BadRequest("The signature is malformed");
    });

    expect(await linesOf(backend)).toMatchObject([
      declined("session", "the backend rejected the request: The signature is malformed"),
    ]);
  });
});

describe("a backend that breaks its contract is logged as an error:", () => {
  it.each<[string, unknown]>([
    ["the backend did not return an AuthResult", undefined],
    ["the backend did not return an AuthResult", null],
    ["the backend did not return an AuthResult", "ann"],
    ["the backend returned an identity that is not a string", { success: true, identity: {}, scope: "session" }],
    ["the backend returned an identity that is not a string", { success: true, identity: null, scope: "session" }],
  ])("%s: %j", async (message, answer) => {
    expect((await linesOf(new Scripted(() => answer)))[0]).toMatchObject({
      level: "error",
      msg: message,
      scope: "session",
    });
  });

  it("but not one that returns an empty identity", async () => {
    expect(await linesOf(new Scripted(() => AuthResult.accept("", "session")))).toMatchObject([
      { level: "debug", reason: "the backend returned an empty identity" },
    ]);
  });
});

describe("keys of another server", () => {
  it("that cannot be fetched are logged with the status of the response, and not fetched again at once", async () => {
    let requests = 0;
    const server = createServer((_, response) => {
      requests++;
      response.writeHead(500).end();
    });
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const jwks = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks`);
    const backend = new JWTAuthBackend({ jwks, identifier: "sub", audience: "shop", clock });
    const { headers } = bearing(forge(claims, { alg: "ES256", kid: "k" }));

    for (let count = 0; count < 2; count++)
      expect(await linesOf(backend, headers)).toMatchObject([
        {
          level: "error",
          msg: "an authentication backend threw",
          scope: "jwt",
          err: { message: "fetching the key set failed with status 500" },
        },
      ]);
    expect(requests).toBe(1);
  });
});
