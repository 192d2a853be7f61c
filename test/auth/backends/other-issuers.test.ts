import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { SignJWT } from "jose";
import { type AuthScope, PorticoApp } from "portico";
import {
  AuthenticationMiddleware,
  JWTAuthBackend,
  type JWTAuthOptions,
  SessionMiddleware,
  SimpleUser,
  useAuth,
} from "portico/auth";
import { field, Graph, schema, t } from "portico/graphql";
import { testClient } from "portico/testing";
import { describe, expect, it } from "vitest";

const ISSUER = "https://partner.example/";
const partner = "partner" as AuthScope;
const pair = generateKeyPairSync("ed25519");
const jwks = { keys: [{ ...pair.publicKey.export({ format: "jwk" }), kid: "a", alg: "EdDSA" }] };
const SECRET = "a secret of the tests, which is long enough";

async function tokenOf(claims: object, key: KeyObject = pair.privateKey): Promise<Record<string, string>> {
  const token = new SignJWT({ sub: "ann", iss: ISSUER, aud: "shop", ...claims }).setProtectedHeader({
    alg: "EdDSA",
    kid: "a",
  });
  return { authorization: `Bearer ${await token.setExpirationTime("5m").sign(key)}` };
}
async function ownToken(): Promise<Record<string, string>> {
  const token = new SignJWT({ sub: "ann", aud: "shop", role: "own" }).setProtectedHeader({ alg: "HS256" });
  return { authorization: `Bearer ${await token.setExpirationTime("5m").sign(Buffer.from(SECRET))}` };
}

function build(options: Partial<JWTAuthOptions> = {}) {
  const app = new PorticoApp({ logger: false });
  app.use(new SessionMiddleware({ secret: SECRET }));
  app.use(
    new AuthenticationMiddleware({
      userModel: { loadUser: async (identity) => new SimpleUser(identity, ["read:books", "write:books"]) },
      backend: [
        new JWTAuthBackend({ secretKey: SECRET, identifier: "sub", audience: "shop" }),
        new JWTAuthBackend({ jwks, issuer: ISSUER, audience: "shop", identifier: "sub", scope: partner, ...options }),
      ],
    }),
  );
  app.get("/scope", ({ request }) => [request.scope.auth, request.scope.credential?.claims ?? null]);
  app.get("/partner", { auth: useAuth({ scopes: [partner] }) }, () => "partner");
  app.get("/own", { auth: useAuth({ scopes: ["jwt"] }) }, () => "own");
  app.get("/read", { auth: useAuth({ permissions: ["read:books"] }) }, () => "read");
  app.get("/write", { auth: useAuth({ permissions: ["write:books"] }) }, () => "write");
  const tenant = field(t.json)(({ ctx }) => ctx.scope.credential?.claims?.["tenant"]);
  new Graph(schema({ query: { tenant } })).mount(app);
  const client = testClient(app);
  const statuses = async (headers: Record<string, string>, ...paths: readonly string[]) =>
    Promise.all(paths.map(async (path) => (await client.get(path, { headers })).status));
  return { client, statuses };
}

describe("a token from another issuer", () => {
  it("has its own scope, which gates tell from that of the application's own tokens", async () => {
    const { client, statuses } = build();
    const [theirs, ours] = [await tokenOf({}), await ownToken()];

    expect(await statuses(theirs, "/partner", "/own")).toEqual([200, 401]);
    expect(await statuses(ours, "/partner", "/own")).toEqual([401, 200]);
    expect((await client.get("/scope", { headers: ours })).json()).toMatchObject(["jwt", { role: "own" }]);
  });

  it("shows its claims to handlers and resolvers, with and without the cache", async () => {
    for (const cache of [0, 10]) {
      const { client } = build({ cache });
      const headers = await tokenOf({ tenant: { id: 7 }, roles: ["editor"] });

      for (let round = 0; round < 2; round++) {
        const scope = (await client.get("/scope", { headers })).json();
        const graph = (await client.post("/graphql", { headers, body: { query: "{ tenant }" } })).json();

        expect(scope).toMatchObject(["partner", { sub: "ann", tenant: { id: 7 }, roles: ["editor"] }]);
        expect(graph).toMatchObject({ data: { tenant: { id: 7 } } });
      }
    }
  });

  it("shows no claims of a token that is not valid, nor of an anonymous caller", async () => {
    const { client } = build();
    const forged = await tokenOf({ tenant: 1 }, generateKeyPairSync("ed25519").privateKey);

    for (const headers of [forged, await tokenOf({ iss: "https://other.example/" }), {}])
      expect((await client.get("/scope", { headers })).json()).toEqual([null, null]);
  });

  it("has the permissions of a claim that its user has too", async () => {
    const { statuses } = build({ permissions: "scope" });
    const told = (scope: unknown): Promise<Record<string, string>> => tokenOf({ scope });

    expect(await statuses(await told("read:books admin"), "/read", "/write")).toEqual([200, 403]);
    expect(await statuses(await told(["write:books"]), "/read", "/write")).toEqual([403, 200]);
    for (const scope of ["", undefined, 7, [7, "read:books"], { read: true }, "READ:BOOKS"])
      expect(await statuses(await told(scope), "/read", "/write", "/partner")).toEqual([403, 403, 200]);
  });

  it("has the permissions that a function maps its claims to", async () => {
    const roles: Record<string, readonly string[]> = { reader: ["read:books"] };
    const { statuses } = build({
      permissions: ({ role }) => (role === "admin" ? undefined : (roles[String(role)] ?? [])),
    });

    expect(await statuses(await tokenOf({ role: "reader" }), "/read", "/write")).toEqual([200, 403]);
    expect(await statuses(await tokenOf({ role: "admin" }), "/read", "/write")).toEqual([200, 200]);
    expect(await statuses(await tokenOf({ role: "guest" }), "/read", "/write")).toEqual([403, 403]);
  });

  it("is unknown while the function fails, and not anonymous", async () => {
    const { statuses } = build({
      permissions: () => {
        throw new Error("no mapping");
      },
    });

    expect(await statuses(await tokenOf({}), "/partner")).toEqual([503]);
  });
});

it("rejects a scope that is empty, and permissions that name no claim", () => {
  for (const scope of ["", undefined, 7])
    expect(() => build({ scope } as never)).toThrow("JWTAuthBackend.scope must be");
  for (const permissions of ["", undefined, "__proto__", 7])
    expect(() => build({ permissions } as never)).toThrow(
      "JWTAuthBackend.permissions must be the name of a claim, or a function of the claims",
    );
});
