import { decodeJwt } from "jose";
import { type KeyValueStore, memoryStores, PorticoApp } from "portico";
import {
  AuthenticationMiddleware,
  JWTAuthBackend,
  type JWTAuthOptions,
  rotateRefreshToken,
  SessionAuthBackend,
  SessionMiddleware,
  SimpleUser,
  TokenForUser,
  type TokenOptions,
  useAuth,
} from "portico/auth";
import { type LiveClient, logCatcher } from "portico/testing";
import { describe, expect, it } from "vitest";
import { cookieHeader } from "../../sign-in.ts";
import { servers } from "../servers.ts";
import {
  ANN,
  ANONYMOUS,
  backendFor,
  bearing,
  claims,
  clock,
  encode,
  forge,
  NOW,
  refusalFrom,
  SECRET,
  standing,
  tokenApp,
} from "./token-app.ts";

const serve = servers();

/** Ann, whose credentials are of the generation that `version` says; `null` is a user who may not sign in. */
class Ann extends SimpleUser {
  static version: number | null = 1;
  readonly credentialVersion: number;

  constructor(version: number) {
    super("ann");
    this.credentialVersion = version;
  }
  static override async loadUser(): Promise<SimpleUser | null> {
    return Ann.version === null ? null : new Ann(Ann.version);
  }
}

describe("the credential of a token", () => {
  it("has the id jti, expires with exp and carries the user's credential version", async () => {
    const seen: unknown[] = [];
    const app = new PorticoApp({ logger: false })
      .use(new AuthenticationMiddleware({ userModel: Ann, backend: backendFor() }))
      .get("/", ({ ctx }) => void seen.push(ctx.identity.credential));
    const client = await serve(app);
    Ann.version = 3;
    const { access_token } = await new TokenForUser(new Ann(3), { secret: SECRET, clock }).tokenPair();
    const { jti, credential_version } = decodeJwt(access_token);

    await client.get("/", bearing(access_token));
    await client.get("/", bearing(forge({ ...claims, jti: "t1", sid: "s1" })));
    await client.get("/", bearing(forge(claims)));

    expect(credential_version).toBe(3);
    expect(seen).toEqual([
      { id: `jwt:${jti}`, expiresAt: (NOW + 600) * 1000, version: 3, claims: decodeJwt(access_token) },
      { id: "session:s1", expiresAt: (NOW + 600) * 1000, claims: { ...claims, jti: "t1", sid: "s1" } },
      { expiresAt: (NOW + 600) * 1000, claims },
    ]);
  });

  it("[auth:AU-040] is invalid once its user is disabled or has new credentials", async () => {
    const client = await serve(tokenApp(backendFor(), Ann).app);
    Ann.version = 1;
    const { access_token } = await new TokenForUser(new Ann(1), { secret: SECRET, clock }).tokenPair();
    const standings: unknown[] = [];

    for (const version of [1, 2, null, 1]) {
      Ann.version = version;
      standings.push(await standing(client, `Bearer ${access_token}`));
    }

    expect(standings).toEqual([ANN, ANONYMOUS, ANONYMOUS, ANN]);
  });

  it.each(["", "  ", "\t", "a\u0000", "\ud800", 1.5, {}, "x".repeat(256)])(
    "is declined with the subject %j",
    async (sub) => {
      const client = await serve(tokenApp(backendFor()).app);

      expect(await standing(client, `Bearer ${forge({ ...claims, sub })}`)).toEqual(ANONYMOUS);
    },
  );

  it.each(["1", 1.5, null, {}])("is declined with %j as its generation", async (credential_version) => {
    const client = await serve(tokenApp(backendFor(), Ann).app);
    Ann.version = 1;

    expect(await standing(client, `Bearer ${forge({ ...claims, credential_version })}`)).toEqual(ANONYMOUS);
  });

  it("rejects a refresh token of an older credential version or of a deleted user", async () => {
    const options = { secret: SECRET, clock, refreshStore: memoryStores().durable };
    Ann.version = 1;
    const { refresh_token } = await new TokenForUser(new Ann(1), options).tokenPair();
    const outcomes: unknown[] = [];

    for (const version of [2, null, 1]) {
      Ann.version = version;
      const outcome = rotateRefreshToken(refresh_token, Ann, options);
      outcomes.push(await outcome.then(({ access_token }) => decodeJwt(access_token)["credential_version"], String));
    }

    const refusal = "AuthenticationFailed: The refresh token is not valid";
    expect(outcomes).toEqual([refusal, refusal, 1]);
  });
});

it.each(["reset+jwt", "verify+jwt", "mfa+jwt", "logout+jwt", "dpop+jwt"])(
  "a token of type %s is rejected, even with a valid signature",
  async (typ) => {
    const client = await serve(tokenApp(backendFor()).app);

    expect(await standing(client, `Bearer ${forge(claims, { alg: "HS256", typ })}`)).toEqual(ANONYMOUS);
    expect(await standing(client, `Bearer ${encode(Buffer.alloc(32, 7))}`)).toEqual(ANONYMOUS);
  },
);

describe("a token that belongs to a session", () => {
  /** Signs in by a cookie, and gives a token that belongs to that session. */
  const shop = (durable: KeyValueStore, options: JWTAuthOptions = { sessionStore: durable }): PorticoApp => {
    const tokens: TokenOptions = { secret: SECRET };
    const backend = [
      new JWTAuthBackend({ secretKey: SECRET, identifier: "sub", ...options }),
      new SessionAuthBackend(),
    ];
    return new PorticoApp({ logger: logCatcher(), stores: { ...memoryStores(), durable } })
      .use(new SessionMiddleware({ secret: SECRET }))
      .use(new AuthenticationMiddleware({ userModel: SimpleUser, backend }))
      .post("/login", async ({ request }) => {
        const user = new SimpleUser("ann");
        await request.sessions.login(user);
        const sid = (await request.sessions.list()).find(({ current }) => current)?.id as string;
        return new TokenForUser(user, { ...tokens, sid }).tokenPair();
      })
      .post("/logout", ({ request }) => request.sessions.logout())
      .get("/open", ({ user, request }) => ({ who: user.identity, auth: request.scope.auth }))
      .get("/gated", { auth: useAuth({ scopes: ["jwt"] }) }, ({ user }) => user.identity);
  };
  const login = async (client: LiveClient): Promise<{ readonly token: string; readonly cookie: string }> => {
    const answer = await client.post("/login");
    const { access_token } = answer.json() as { readonly access_token: string };
    return { token: access_token, ...cookieHeader(answer) };
  };

  it("[auth:AU-041] ends with it, even on another process and if the token is cached", async () => {
    const { durable } = memoryStores();
    const client = await serve(shop(durable));
    const other = await serve(shop(durable, { sessionStore: durable, cache: 10 }));
    const { token, cookie } = await login(client);
    const [before, beforeThere] = [await standing(client, `Bearer ${token}`), await standing(other, `Bearer ${token}`)];

    await client.post("/logout", { headers: { cookie } });

    expect([before, beforeThere]).toEqual([ANN, ANN]);
    expect(await standing(client, `Bearer ${token}`)).toEqual(ANONYMOUS);
    expect(await standing(other, `Bearer ${token}`)).toEqual(ANONYMOUS);
  });

  it("[auth:AU-041] stays valid without a lookup", async () => {
    const { durable } = memoryStores();
    const client = await serve(shop(durable, {}));
    const off = await serve(shop(durable, { sessionStore: durable, checkRevocation: false }));
    const { token, cookie } = await login(client);

    await client.post("/logout", { headers: { cookie } });

    expect([await standing(client, `Bearer ${token}`), await standing(off, `Bearer ${token}`)]).toEqual([ANN, ANN]);
  });

  it("must have a session of its user, unless it has none", async () => {
    const { durable } = memoryStores();
    const client = await serve(shop(durable));
    const { token } = await login(client);
    const { sid, exp } = decodeJwt(token);
    const now = Math.floor(Date.now() / 1000);
    const by = (payload: object): Promise<unknown> =>
      standing(client, `Bearer ${forge({ iat: now, exp, ...payload })}`);

    expect(await by({ sub: "ann", sid })).toEqual(ANN);
    expect(await by({ sub: "bob", sid })).toEqual(ANONYMOUS);
    expect(await by({ sub: "ann", sid: "another" })).toEqual(ANONYMOUS);
    expect(await by({ sub: "ann", sid: ["another"] })).toEqual(ANONYMOUS);
    expect(await by({ sub: "ann" })).toEqual(ANN);
  });

  it("leaves its caller unknown while the store is down", async () => {
    const { durable } = memoryStores();
    const down: KeyValueStore = Object.create(durable, {
      get: { value: () => Promise.reject(new Error("the store is down")) },
    });
    const client = await serve(shop(durable, { sessionStore: down }));
    const { token } = await login(client);

    expect((await client.get("/gated", bearing(token))).status).toBe(503);
  });

  it("is looked up only if a store is set", () => {
    const refusal = refusalFrom(() => new JWTAuthBackend({ secretKey: SECRET, checkRevocation: true }));

    expect(refusal.option).toBe("JWTAuthBackend.sessionStore");
    expect(refusalFrom(() => new JWTAuthBackend({ secretKey: SECRET, sessionStore: undefined as never })).option).toBe(
      "JWTAuthBackend.sessionStore",
    );
  });
});
