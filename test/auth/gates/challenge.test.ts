import { PorticoApp } from "portico";
import {
  APIKeyAuthBackend,
  type AuthenticationBackend,
  AuthenticationMiddleware,
  type JWTAuthOptions,
  SessionAuthBackend,
  SessionMiddleware,
  SimpleUser,
  useAuth,
} from "portico/auth";
import { describe, expect, it } from "vitest";
import { exchange } from "../../graphql/corpus/wire.ts";
import { HeaderBackend } from "../backends/recording-backend.ts";
import { servers } from "../servers.ts";
import {
  ANN,
  ANONYMOUS,
  backendFor,
  bearing,
  claims,
  forge,
  OTHER_SECRET,
  refusalFrom,
  standing,
  tokenApp,
} from "../tokens/token-app.ts";

const serve = servers();
const BAD = forge(claims, undefined, OTHER_SECRET);

describe("WWW-Authenticate", () => {
  const challenges = async (options: JWTAuthOptions): Promise<readonly unknown[]> => {
    const client = await serve(tokenApp([backendFor(options), new HeaderBackend("session")]).app);
    const answers = [
      await client.get("/gated"),
      await client.get("/gated", { headers: { authorization: "Bearer " } }),
      await client.get("/gated", { headers: { authorization: "Basic eDp5" } }),
      await client.get("/gated", bearing(BAD)),
      await client.get("/gated", bearing(forge({ ...claims, exp: claims.iat - 60 }))),
    ];
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 401, 401]);
    return answers.map(({ headers }) => headers["www-authenticate"]);
  };

  it("includes invalid_token only if there was a token, as RFC 6750 requires", async () => {
    const plain = 'Bearer, SESSION realm="test"';
    const invalid = 'Bearer error="invalid_token", SESSION realm="test"';

    expect(await challenges({})).toEqual([plain, plain, plain, invalid, invalid]);
  });

  it("names the realm", async () => {
    const plain = 'Bearer realm="the shop", SESSION realm="test"';
    const invalid = 'Bearer realm="the shop", error="invalid_token", SESSION realm="test"';

    expect(await challenges({ realm: "the shop" })).toEqual([plain, plain, plain, invalid, invalid]);
  });

  it("includes it for a valid token of a deleted user, but not for a sign-in method that the gate does not accept", async () => {
    const userModel = { loadUser: async (name: string) => (name === "ann" ? new SimpleUser(name) : null) };
    const app = new PorticoApp({ logger: false })
      .use(new AuthenticationMiddleware({ userModel, backend: backendFor() }))
      .get("/any", { auth: useAuth() }, () => 1)
      .get("/session", { auth: useAuth({ scopes: ["session"] }) }, () => 1);
    const client = await serve(app);

    const gone = await client.get("/any", bearing(forge({ ...claims, sub: "bob" })));
    const other = await client.get("/session", bearing(forge(claims)));

    expect([gone, other].map(({ status, headers }) => [status, headers["www-authenticate"]])).toEqual([
      [401, 'Bearer error="invalid_token"'],
      [401, "Bearer"],
    ]);
  });

  it("leaves out backends that have no challenge, and is Bearer if none has one", async () => {
    const built = (backend: AuthenticationBackend | readonly AuthenticationBackend[]) =>
      new PorticoApp({ logger: false })
        .use(new SessionMiddleware({ secret: OTHER_SECRET }))
        .use(new AuthenticationMiddleware({ userModel: SimpleUser, backend }))
        .get("/gated", { auth: useAuth() }, () => 1);
    const mixed = await serve(built([new SessionAuthBackend(), backendFor(), new APIKeyAuthBackend()]));
    const silent = await serve(built([new SessionAuthBackend(), new APIKeyAuthBackend()]));
    const [plain, invalid] = [await mixed.get("/gated"), await mixed.get("/gated", bearing(BAD))];
    const declined = await silent.get("/gated", { headers: { "x-api-key": "pk_x" } });

    expect(plain.headers["www-authenticate"]).toBe("Bearer");
    expect(invalid.headers["www-authenticate"]).toBe('Bearer error="invalid_token"');
    expect([declined.status, declined.headers["www-authenticate"]]).toEqual([401, "Bearer"]);
  });
});

it("[auth:AU-060] nothing splits a header: not a realm, not a redirect, not the label of a device", async () => {
  for (const realm of ["a\r\nset-cookie: a=b", "a\nb", 'a", error="x', "a\\", "ü", ""])
    expect(refusalFrom(() => backendFor({ realm })).option).toBe("JWTAuthBackend.realm");

  const app = new PorticoApp({ logger: false })
    .use(new SessionMiddleware({ secret: OTHER_SECRET }))
    .use(new AuthenticationMiddleware({ userModel: SimpleUser, backend: backendFor() }))
    .get("/go", ({ response, query }) => response.redirect(String(query["next"])))
    .post("/login", async ({ request }) => {
      await request.sessions.login(new SimpleUser("ann"));
      return request.sessions.list();
    });
  const client = await serve(app);

  const redirect = await client.get("/go", { query: { next: "/a\r\nset-cookie: a=b" } });
  const login = await client.post("/login", { headers: { "user-agent": "Mozilla\u0085 \u009b31mred" } });
  const [session] = login.json() as readonly { readonly device: string }[];

  expect([redirect.status, redirect.headers["location"], redirect.cookies]).toEqual([400, undefined, []]);
  expect(session?.device).toBe("Unknown device");
});

it("the reason for a declined credential is logged at debug level, without the credential", async () => {
  const { app, log } = tokenApp([backendFor({ issuer: "us" }), new HeaderBackend("session")], {
    loadUser: async () => null,
  });
  const client = await serve(app);
  const good = forge({ ...claims, iss: "us" });
  const tokens = [good, BAD, `${good}x`, "not.a.token", "x".repeat(5000), forge(claims), forge({ iss: "us" })];

  for (const token of tokens) expect(await standing(client, `Bearer ${token}`)).toEqual(ANONYMOUS);
  const reasons = log.lines.filter(({ msg }) => msg === "an authentication backend declined");

  expect(reasons.every(({ level }) => level === "debug")).toBe(true);
  expect(new Set(reasons.map(({ reason }) => reason))).toEqual(
    new Set(["the user was not found", "the token is not valid", "the token is too long", "no header"]),
  );
  const parts = tokens.flatMap((token) => token.split(".")).filter(({ length }) => length > 5);
  for (const part of parts) expect(log.text).not.toContain(part);
});

it("[auth:AU-059] header names are case-insensitive", async () => {
  const client = await serve(tokenApp(backendFor()).app);
  const token = forge(claims);

  const statuses = await Promise.all(
    ["authorization", "AUTHORIZATION", "AuThOrIzAtIoN"].map(
      async (name) =>
        (await exchange(client.port, { method: "GET", target: "/gated", headers: [[name, `Bearer ${token}`]] })).status,
    ),
  );

  expect(statuses).toEqual([200, 200, 200]);
  expect(await standing(client, `Bearer ${token}`)).toEqual(ANN);
});
