import { ConfigurationError } from "../../core/configuration-error.ts";
import { optional, resolveOptions, urlPath, wholeNumber } from "../../core/resolve-options.ts";
import { Router } from "../../http/routing/router.ts";
import { type KeyPair, keyRing, type SigningKey } from "./signing-key.ts";
import type { JSONWebKeySet } from "./verifying-keys.ts";

/** The options of `jwksRoutes`. */
export interface JWKSRoutesOptions {
  /** @default "/.well-known/jwks.json" */
  readonly path?: string;
  /** Seconds for which verifiers may cache the response. @default 300 */
  readonly maxAgeSeconds?: number;
}

/**
 * Publishes the public halves of keys, for servers that verify tokens signed with them. The response contains nothing
 * private.
 *
 * The first key signs, and all keys are published. To rotate keys, append the new key, move it to the front once all
 * verifiers have fetched it, and remove the old key when its last token has expired.
 *
 * @example
 * ```ts
 * import { env, PorticoApp } from "portico";
 * import { jwksRoutes } from "portico/auth";
 *
 * const keys = [JSON.parse(env("SIGNING_KEY")), JSON.parse(env("FORMER_SIGNING_KEY"))];
 * new PorticoApp().mount("", jwksRoutes(keys)); // GET /.well-known/jwks.json
 * ```
 */
export function jwksRoutes(keys: SigningKey | readonly SigningKey[], options: JWKSRoutesOptions = {}): Router {
  const { path, maxAgeSeconds } = resolveOptions("jwksRoutes", options, rules);
  const set = setOf(readRing("jwksRoutes.keys", keys));
  return new Router().get(path, { openapi: false }, ({ response }) =>
    response.header("cache-control", `public, max-age=${maxAgeSeconds}`).json(set),
  );
}

/**
 * Returns the public halves of keys as a key set, for `JWTAuthBackend` in the application that signs.
 *
 * @example
 * ```ts
 * import { env } from "portico";
 * import { JWTAuthBackend, publicKeySet } from "portico/auth";
 *
 * const signingKey = JSON.parse(env("SIGNING_KEY"));
 * const backend = new JWTAuthBackend({ jwks: publicKeySet(signingKey), identifier: "sub", audience: "bookshop" });
 * ```
 */
export function publicKeySet(keys: SigningKey | readonly SigningKey[]): JSONWebKeySet {
  return setOf(readRing("publicKeySet", keys));
}

function setOf(pairs: readonly KeyPair[]): JSONWebKeySet {
  return Object.freeze({ keys: Object.freeze(pairs.map(({ publicJwk }) => publicJwk)) });
}

function readRing(option: string, keys: unknown): readonly KeyPair[] {
  const ring = keyRing(option).read(keys);
  if (typeof ring === "symbol") throw new ConfigurationError(option, "must be a key, or a list of keys");
  return ring;
}

const rules = {
  path: optional(urlPath, "/.well-known/jwks.json"),
  maxAgeSeconds: optional(wholeNumber, 300),
};
