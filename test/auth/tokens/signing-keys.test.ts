import { createPublicKey, generateKeyPairSync, type JsonWebKey, KeyObject } from "node:crypto";
import { inspect } from "node:util";
import { decodeProtectedHeader } from "jose";
import { memoryStores, PorticoApp } from "portico";
import { jwksRoutes, publicKeySet, rotateRefreshToken, type SigningKey, SimpleUser, TokenForUser } from "portico/auth";
import { type LiveClient, liveClient, testClient } from "portico/testing";
import { afterEach, describe, expect, it, vi } from "vitest";
import { servers } from "../servers.ts";
import { ANN, ANONYMOUS, backendFor, bearing, clock, refusalFrom, SECRET, standing, tokenApp } from "./token-app.ts";

const ann = new SimpleUser("ann");
const edKey = (kid?: string): JsonWebKey => ({
  ...generateKeyPairSync("ed25519").privateKey.export({ format: "jwk" }),
  ...(kid === undefined ? {} : { kid }),
});
const tokenBy = async (signingKey: SigningKey | readonly SigningKey[]): Promise<string> =>
  (await new TokenForUser(ann, { signingKey, clock }).tokenPair()).access_token;
const PRIVATE_MEMBERS = ["d", "p", "q", "dp", "dq", "qi", "k", "oth"];

describe("a signing key", () => {
  const pairs: readonly (readonly [string, JsonWebKey])[] = [
    ["EdDSA", generateKeyPairSync("ed25519").privateKey.export({ format: "jwk" })],
    ["ES256", generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({ format: "jwk" })],
    ["RS256", generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({ format: "jwk" })],
  ];

  it.each(pairs)("signs by %s, and its public half verifies", async (alg, jwk) => {
    const signingKey = { ...jwk, kid: "k1" };
    const token = await tokenBy(signingKey);
    const client = await liveClient(tokenApp(backendFor({ jwks: publicKeySet(signingKey) })).app);

    expect(decodeProtectedHeader(token)).toEqual({ alg, typ: "at+jwt", kid: "k1" });
    expect(await standing(client, `Bearer ${token}`)).toEqual(ANN);
    expect(await standing(client, `Bearer ${await tokenBy({ ...edKey(), kid: "k1" })}`)).toEqual(ANONYMOUS);
    await client.close();
  });

  it("may be a KeyObject, with a kid or its thumbprint", async () => {
    const { privateKey } = generateKeyPairSync("ed25519");
    const [bare, named] = [await tokenBy(privateKey), await tokenBy({ key: privateKey, kid: "mine" })];
    const { kid } = decodeProtectedHeader(bare);

    expect([kid, decodeProtectedHeader(named).kid]).toEqual([expect.stringMatching(/^[\w-]{43}$/), "mine"]);
    expect(publicKeySet(privateKey).keys).toEqual([expect.objectContaining({ kid })]);
    const { app } = tokenApp(backendFor({ jwks: publicKeySet([privateKey, { key: privateKey, kid: "mine" }]) }));
    for (const token of [bare, named]) expect((await testClient(app).get("/gated", bearing(token))).status).toBe(200);
  });

  it("has the thumbprint of RFC 7638 section 3.1", () => {
    // The key of that section, and what the section says of it.
    const n =
      "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw";

    expect(publicKeySet({ kty: "RSA", n, e: "AQAB" }).keys).toEqual([
      { kty: "RSA", n, e: "AQAB", kid: "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs", alg: "RS256", use: "sig" },
    ]);
  });

  it("needs a separate secret for refresh tokens", async () => {
    const options = { signingKey: edKey("k1"), refreshSecret: SECRET, refreshStore: memoryStores().durable, clock };
    const { refresh_token } = await new TokenForUser(ann, options).tokenPair();

    const next = await rotateRefreshToken(refresh_token, SimpleUser, options);

    expect(decodeProtectedHeader(next.access_token)).toMatchObject({ alg: "EdDSA", kid: "k1" });
  });

  it.each<readonly [string, object, string]>([
    ["a secret beside it", { secret: SECRET, signingKey: edKey() }, "TokenForUser"],
    ["one that vanished", { signingKey: undefined }, "TokenForUser.signingKey"],
    ["an empty list", { signingKey: [] }, "TokenForUser.signingKey"],
    [
      "a public one",
      { signingKey: createPublicKey(generateKeyPairSync("ed25519").privateKey) },
      "TokenForUser.signingKey",
    ],
    ["a secret in its place", { signingKey: { kty: "oct", k: SECRET } }, "TokenForUser.signingKey"],
    ["text", { signingKey: "-----BEGIN PRIVATE KEY-----" }, "TokenForUser.signingKey"],
    ["nonsense", { signingKey: { kty: "OKP", crv: "Ed25519", d: "vJ3qk2x8", x: "y" } }, "TokenForUser.signingKey"],
    [
      "another curve",
      { signingKey: generateKeyPairSync("ec", { namedCurve: "P-384" }).privateKey },
      "TokenForUser.signingKey",
    ],
    ["a key for encryption", { signingKey: { ...edKey(), use: "enc" } }, "TokenForUser.signingKey"],
    ["another algorithm than its own", { signingKey: { ...edKey(), alg: "RS256" } }, "TokenForUser.signingKey"],
    [
      "a small RSA key",
      { signingKey: generateKeyPairSync("rsa", { modulusLength: 1024 }).privateKey },
      "TokenForUser.signingKey",
    ],
    ["two by one name", { signingKey: [edKey("a"), edKey("a")] }, "TokenForUser.signingKey"],
    ["an empty name", { signingKey: edKey("") }, "TokenForUser.signingKey.kid"],
    [
      "a refresh store without a secret",
      { signingKey: edKey(), refreshStore: memoryStores().durable },
      "TokenForUser.refreshSecret",
    ],
  ])("is rejected without being shown: %s", (_title, options, option) => {
    const refusal = refusalFrom(() => new TokenForUser(ann, options));

    expect(refusal.option).toBe(option);
    const { signingKey } = options as { readonly signingKey?: unknown };
    const hidden = [signingKey]
      .flat()
      .map((key) => (key instanceof KeyObject ? "" : ((key as JsonWebKey | undefined)?.d ?? "")));
    for (const d of [...hidden, SECRET].filter((text) => text !== ""))
      expect(inspect(refusal, { depth: 9, showHidden: true })).not.toContain(d);
  });
});

describe("jwksRoutes", () => {
  const serve = servers();
  afterEach(() => void vi.useRealTimers());

  it("publishes public halves alone, for caches to keep", async () => {
    const keys = [
      edKey("a"),
      generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey,
      { key: generateKeyPairSync("ec", { namedCurve: "P-256" }).publicKey, kid: "former" },
    ];
    const client = await serve(new PorticoApp({ logger: false }).mount("", jwksRoutes(keys)));

    const answer = await client.get("/.well-known/jwks.json");
    const { keys: published } = answer.json() as { readonly keys: readonly Record<string, string>[] };

    expect(answer.headers["cache-control"]).toBe("public, max-age=300");
    expect(answer.headers["content-type"]).toContain("application/json");
    expect(published.map(({ kid, alg, use }) => [kid, alg, use])).toEqual([
      ["a", "EdDSA", "sig"],
      [expect.any(String), "RS256", "sig"],
      ["former", "ES256", "sig"],
    ]);
    for (const key of published) expect(PRIVATE_MEMBERS.filter((name) => name in key)).toEqual([]);
    expect(inspect(jwksRoutes(keys), { depth: 9, showHidden: true })).not.toContain(keys[0]?.["d" as never]);
  });

  it("takes another place and another age", async () => {
    const router = jwksRoutes(edKey(), { path: "/keys", maxAgeSeconds: 0 });
    const client = testClient(new PorticoApp({ logger: false }).mount("/id", router));

    expect((await client.get("/id/keys")).headers["cache-control"]).toBe("public, max-age=0");
    expect(refusalFrom(() => jwksRoutes(edKey(), { path: "keys" })).option).toBe("jwksRoutes.path");
    expect(refusalFrom(() => jwksRoutes([])).option).toBe("jwksRoutes.keys");
  });

  it("[auth:AU-042] lets another application trust the tokens, through a change of keys", async () => {
    const [first, second, third] = [edKey("first"), edKey("second"), edKey("third")];
    const published: SigningKey[][] = [[first, second]];
    let fetched = 0;
    // The publisher starts anew with each list of keys, at the same address.
    let publisher = await liveClient(issuer());
    const url = new URL(`http://127.0.0.1:${publisher.port}/.well-known/jwks.json`);
    const verifier = await serve(tokenApp(backendFor({ jwks: url })).app);
    const restart = async (keys: SigningKey[]): Promise<void> => {
      const { port } = publisher;
      await publisher.close();
      published[0] = keys;
      const app = issuer();
      await app.listen({ port });
      publisher = { port, close: () => app.close() } as LiveClient;
    };
    function issuer(): PorticoApp {
      const router = jwksRoutes(published[0] ?? []);
      return new PorticoApp({ logger: false })
        .use(async (_ctx, next) => {
          fetched++;
          await next();
        })
        .mount("", router);
    }
    const byFirst = await tokenBy([first, second]);

    expect(await standing(verifier, `Bearer ${byFirst}`)).toEqual(ANN);

    await restart([second, first]);
    const bySecond = await tokenBy([second, first]);
    expect(await standing(verifier, `Bearer ${bySecond}`)).toEqual(ANN);
    expect(await standing(verifier, `Bearer ${byFirst}`)).toEqual(ANN);
    expect(fetched).toBe(1);

    await restart([third, second]);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 31_000 });
    expect(await standing(verifier, `Bearer ${await tokenBy(third)}`)).toEqual(ANN);
    expect(await standing(verifier, `Bearer ${bySecond}`)).toEqual(ANN);
    expect(await standing(verifier, `Bearer ${byFirst}`)).toEqual(ANONYMOUS);
    expect(fetched).toBe(2);
    await publisher.close();
  });
});
