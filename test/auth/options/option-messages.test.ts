import { createSecretKey, generateKeyPairSync, KeyObject } from "node:crypto";
import { ConfigurationError, memoryStores } from "portico";
import {
  APIKeyAuthBackend,
  APIKeys,
  accountRoutes,
  authentication,
  JWTAuthBackend,
  jwksRoutes,
  revokeRefreshTokensOf,
  SessionMiddleware,
  SimpleUser,
  TokenForUser,
  type TokenOptions,
} from "portico/auth";
import { describe, expect, it } from "vitest";
import { memoryUsers } from "../accounts/memory-users.ts";

const secret = "a secret of the tests, which is long enough";
const store = memoryStores().durable;
const jwkOf = (kind: "ed25519" | "rsa" | "x25519", bits = 2048): Record<string, unknown> => {
  const { privateKey } =
    kind === "rsa" ? generateKeyPairSync("rsa", { modulusLength: bits }) : generateKeyPairSync(kind as "ed25519");
  return privateKey.export({ format: "jwk" });
};
const publicOf = ({ d: _d, p: _p, q: _q, dp: _dp, dq: _dq, qi: _qi, ...jwk }: Record<string, unknown>) => jwk;
const [signing, short, encryption] = [jwkOf("ed25519"), jwkOf("rsa", 1024), jwkOf("x25519")];
const SYMMETRIC = { kty: "oct", k: "AAAA" };

/** What a call throws: the option, and the rest of the sentence. */
async function problemOf(build: () => unknown): Promise<readonly [string, string]> {
  try {
    await build();
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    return [error.option, error.message.slice(error.option.length + 1)];
  }
  return ["", "nothing was thrown"];
}

const token = (options: { readonly [name: string]: unknown; readonly signingKey?: unknown }) => () =>
  new TokenForUser(new SimpleUser("ann"), { ...options, ...copied(options) } as TokenOptions);
/** Each token has its own key objects, because keys that were read before are not read again. */
const copied = ({ signingKey }: { readonly signingKey?: unknown }): object =>
  signingKey === undefined || signingKey instanceof KeyObject
    ? {}
    : { signingKey: JSON.parse(JSON.stringify(signingKey)) as unknown };
const jwt = (options: object) => () => new JWTAuthBackend(options);
const session = (options: object) => () => new SessionMiddleware({ secret, ...options });
const account = (options: object) => () =>
  authentication({ userModel: memoryUsers(), audience: "shop", secret, ...options });

const AT_LEAST = "must have at least 2048 bits";
const KEY = "must be a key for EdDSA (Ed25519), ES256 (P-256) or RS256";
const HTTPS = "must be an https URL: an attacker who can change the response could sign in as any user";

describe("an option that is wrong is named, and the message says what it must be", () => {
  it.each<[string, string, () => unknown]>([
    ["TokenForUser.secret", "is missing: pass secret or signingKey", token({})],
    ["TokenForUser", "takes either secret or signingKey, not both", token({ secret, signingKey: signing })],
    [
      "TokenForUser.secret",
      "looks like a PEM key, not a secret: pass public keys as jwks",
      token({ secret: `-----BEGIN ${secret}` }),
    ],
    [
      "TokenForUser.signingKey",
      "is a public key: signing requires a private key",
      token({ signingKey: publicOf(signing) }),
    ],
    [
      "TokenForUser.refreshSecret",
      "is required with signingKey and refreshStore: refresh tokens need a secret",
      token({ signingKey: signing, refreshStore: store }),
    ],
    ["TokenForUser.signingKey", "must not be empty", token({ signingKey: [] })],
    ["TokenForUser.signingKey", KEY, token({ signingKey: { ...signing, alg: "RS256" } })],
    ["TokenForUser.signingKey", KEY, token({ signingKey: encryption })],
    [
      "TokenForUser.signingKey",
      'must be a signing key, but its "use" is not "sig"',
      token({ signingKey: { ...signing, use: "enc" } }),
    ],
    ["TokenForUser.signingKey", AT_LEAST, token({ signingKey: short })],
    ["TokenForUser.signingKey", "is not a readable key", token({ signingKey: { ...signing, x: "?", d: "?" } })],
    ["TokenForUser.signingKey", "is a symmetric secret: pass it as secret instead", token({ signingKey: SYMMETRIC })],
    [
      "TokenForUser.signingKey",
      "is a symmetric secret: pass it as secret instead",
      token({ signingKey: createSecretKey(Buffer.from(secret)) }),
    ],
    [
      "TokenForUser.signingKey[1]",
      "must be a JSON Web Key, a KeyObject, or an object with key and kid",
      token({ signingKey: [signing, null] }),
    ],
    ...[1, "", "k".repeat(257)].map(
      (kid) =>
        [
          "TokenForUser.signingKey.kid",
          "must be a string of 1 to 256 characters",
          token({ signingKey: { ...signing, kid } }),
        ] as [string, string, () => unknown],
    ),
    [
      "TokenForUser.signingKey",
      "has two keys with the kid k",
      token({
        signingKey: [
          { ...signing, kid: "k" },
          { ...jwkOf("ed25519"), kid: "k" },
        ],
      }),
    ],
    ["jwksRoutes.keys", "must not be empty", () => jwksRoutes([])],
    [
      "jwksRoutes.path",
      'must be a path that begins with "/", received "keys"',
      () => jwksRoutes(signing, { path: "keys" }),
    ],
    ["revokeRefreshTokensOf.refreshStore", "is missing", () => revokeRefreshTokensOf("ann", { secret } as never)],
    ["JWTAuthBackend.secretKey", "is missing: pass secretKey or jwks", jwt({})],
    ["JWTAuthBackend", "takes either secretKey or jwks, not both", jwt({ secretKey: secret, jwks: { keys: [] } })],
    ["JWTAuthBackend.algorithms", "must not be empty", jwt({ secretKey: secret, algorithms: [] })],
    [
      "JWTAuthBackend.algorithms",
      "must be HS256 only when secretKey is set",
      jwt({ secretKey: secret, algorithms: ["HS256", "RS256"] }),
    ],
    [
      "JWTAuthBackend.algorithms",
      "must not include HS256 when jwks is set",
      jwt({ jwks: { keys: [publicOf(signing)] }, algorithms: ["EdDSA", "HS256"] }),
    ],
    [
      "JWTAuthBackend.sessionStore",
      "is required when checkRevocation is true",
      jwt({ secretKey: secret, checkRevocation: true }),
    ],
    ["JWTAuthBackend.jwks", "must be a URL, or a key set: an object with keys", jwt({ jwks: {} })],
    [
      "JWTAuthBackend.jwks",
      "contains no key that can verify signatures",
      jwt({ jwks: { keys: [publicOf(encryption)] } }),
    ],
    ["JWTAuthBackend.jwks", HTTPS, jwt({ jwks: new URL("http://login.example/jwks") })],
    ["JWTAuthBackend.jwks", HTTPS, jwt({ jwks: new URL("ftp://localhost/jwks") })],
    ["JWTAuthBackend.jwks.keys[0]", "must be a JSON Web Key", jwt({ jwks: { keys: [null] } })],
    ["JWTAuthBackend.jwks.keys[1]", "must be a JSON Web Key", jwt({ jwks: { keys: [publicOf(signing), "x"] } })],
    [
      "JWTAuthBackend.jwks.keys[0]",
      "is a symmetric secret: pass it as secretKey instead",
      jwt({ jwks: { keys: [SYMMETRIC] } }),
    ],
    ["JWTAuthBackend.jwks.keys[0]", "is a private key: pass only the public key", jwt({ jwks: { keys: [signing] } })],
    ["JWTAuthBackend.jwks.keys[0]", AT_LEAST, jwt({ jwks: { keys: [publicOf(short)] } })],
    [
      "JWTAuthBackend.jwks.keys[0]",
      "is not a readable key",
      jwt({ jwks: { keys: [{ ...publicOf(signing), x: "?" }] } }),
    ],
    [
      "APIKeyAuthBackend",
      "takes either keys or store, not both",
      () => new APIKeyAuthBackend({ keys: new APIKeys(), store }),
    ],
    [
      "SessionMiddleware.absoluteSeconds",
      "must be at least the idle time of 7200 seconds, received 7199",
      session({ absoluteSeconds: 7_199 }),
    ],
    [
      "SessionMiddleware.rememberedAbsoluteSeconds",
      "must be at least the idle time of 1209600 seconds, received 1209599",
      session({ rememberedAbsoluteSeconds: 1_209_599 }),
    ],
    ["authentication.impersonation.permission", "is missing", account({ impersonation: {} })],
    ["authentication.passkeys.rpName", "is missing", account({ passkeys: {} })],
    ["accountRoutes.audience", "is missing", () => accountRoutes({ userModel: memoryUsers(), secret } as never)],
  ])("%s %s", async (option, sentence, build) => {
    expect(await problemOf(build)).toEqual([option, sentence]);
  });
});

it.each<[string, () => unknown]>([
  ["a key set on this machine, over HTTP", jwt({ jwks: new URL("http://[::1]:8080/jwks") })],
  ["a key set at localhost", jwt({ jwks: new URL("http://localhost/jwks") })],
  ["a key set at 127.0.0.1", jwt({ jwks: new URL("http://127.0.0.1/jwks") })],
  ["a key with the longest kid", token({ signingKey: { ...signing, kid: "k".repeat(256) } })],
  ["two different keys", token({ signingKey: [signing, jwkOf("ed25519")] })],
  [
    "a key set with a key for encryption beside one for signatures",
    jwt({ jwks: { keys: [publicOf(encryption), publicOf(signing)] } }),
  ],
  ["HS256 beside a secret", jwt({ secretKey: secret, algorithms: ["HS256"] })],
  ["an absolute lifetime as long as the idle time", session({ absoluteSeconds: 7_200 })],
])("accepts %s", (_, build) => {
  expect(build).not.toThrow();
});
