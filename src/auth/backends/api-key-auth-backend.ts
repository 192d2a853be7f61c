import { ConfigurationError } from "../../core/configuration-error.ts";
import { optional, positiveInteger, REFUSED, type Rule, resolveOptions, thing } from "../../core/resolve-options.ts";
import type { AppServices } from "../../http/context/app-services.ts";
import { currentContext } from "../../http/context/current-context.ts";
import { TooManyRequests } from "../../http/context/http-exception.ts";
import { IncomingRequest, type PorticoRequest } from "../../http/context/portico-request.ts";
import { GuardedCounter } from "../../http/limits/guarded-counter.ts";
import type { OpenApiSecurityScheme } from "../../http/routing/open-api-security-scheme.ts";
import { type KeyValueStore, keyValueStore } from "../../stores/key-value-store.ts";
import { credentialId } from "../api-keys/api-key.ts";
import { APIKeys } from "../api-keys/api-keys.ts";
import { AuthResult } from "./auth-result.ts";
import { AuthenticationBackend } from "./authentication-backend.ts";

/** Which keys sign in, and how often. */
export interface APIKeyAuthOptions {
  /** The keys, as the routes that make them have them. @default `new APIKeys()`, in the application's durable store */
  readonly keys?: APIKeys;
  /** Instead of `keys`: only where they are kept. */
  readonly store?: KeyValueStore;
  /** The header that a key comes in. @default "X-API-Key" */
  readonly header?: string;
  /**
   * How often a key may be used that has no limit of its own; more is answered 429. Each request counts, each operation of a GraphQL
   * batch, and each operation on a GraphQL socket. @default as often as it likes
   */
  readonly perMinute?: number;
}

const WINDOW_MS = 60_000;

/**
 * Signs in by an API key in the header `X-API-Key`; the identity is the key's owner. A key with permissions of its own may do
 * what both it and its owner may.
 *
 * It comes in that header alone, once: not in the query, in a cookie or in two headers. A key that is expired, revoked or
 * unknown, and a wrong secret, are declined alike.
 *
 * @example
 * ```ts
 * import { PorticoApp } from "portico";
 * import { APIKeyAuthBackend, AuthenticationMiddleware, SimpleUser, useAuth } from "portico/auth";
 *
 * const backend = new APIKeyAuthBackend({ perMinute: 600 });
 * const app = new PorticoApp().use(new AuthenticationMiddleware({ userModel: SimpleUser, backend }));
 * app.get("/books", { auth: useAuth({ scopes: ["apikey"], permissions: ["read:books"] }) }, () => []);
 * ```
 */
export class APIKeyAuthBackend extends AuthenticationBackend {
  readonly scope = "apikey" as const;
  readonly #keys: APIKeys;
  readonly #header: string;
  readonly #perMinute: number | undefined;
  readonly #counter = new GuardedCounter("APIKeyAuthBackend");
  /** Of each request the application it came to: what stays open is looked at again outside of it. */
  readonly #services = new WeakMap<PorticoRequest, AppServices>();

  constructor(options: APIKeyAuthOptions = {}) {
    super();
    const { keys, store, header, perMinute } = resolveOptions("APIKeyAuthBackend", options, rules);
    if (keys !== undefined && store !== undefined)
      throw new ConfigurationError("APIKeyAuthBackend", "takes keys or store, not both: keys know where they are kept");
    this.#keys = keys ?? new APIKeys(store === undefined ? {} : { store });
    this.#header = header;
    this.#perMinute = perMinute;
  }

  override carries(request: PorticoRequest): boolean {
    return request.headers[this.#header] !== undefined;
  }

  override get headers(): readonly string[] {
    return [this.#header];
  }

  override get securityScheme(): OpenApiSecurityScheme {
    // As it is written, where nobody has chosen another one.
    return { type: "apiKey", in: "header", name: this.#header === "x-api-key" ? "X-API-Key" : this.#header };
  }

  /** Rejects when the store does. */
  async authenticate(request: PorticoRequest): Promise<AuthResult> {
    const text = this.#textOf(request);
    if (text === null) return AuthResult.decline("there is no API key, or more than one");
    const before = this.#services.get(request);
    const services = before ?? currentContext()?.services;
    if (services !== undefined) this.#services.set(request, services);
    const key = await this.#keys.verifyOn(services, text);
    if (key === null) return AuthResult.decline("the API key is not valid");
    // Asked again about the same request, it is not used again.
    const limit = key.perMinute ?? this.#perMinute;
    const count = services === undefined || limit === undefined ? null : () => this.#count(services, key.id, limit);
    const refusal = before === undefined ? await count?.() : null;
    if (refusal instanceof TooManyRequests) return AuthResult.decline("the API key is used too often", refusal);
    return AuthResult.accept(key.user, this.scope, {
      id: credentialId(key.id),
      ...(key.expiresAt === null ? {} : { expiresAt: key.expiresAt.getTime() }),
      ...(key.permissions === null ? {} : { permissions: key.permissions }),
      ...(count === null ? {} : { use: () => refuse(count()) }),
    });
  }

  #textOf(request: PorticoRequest): string | null {
    const text = request.headers[this.#header];
    if (text === undefined) return null;
    // Node keeps the first of some headers, and joins others: neither is a key that somebody sent.
    const isAlone = !(request instanceof IncomingRequest) || request.everyValue(this.#header).length === 1;
    return isAlone ? text : null;
  }

  async #count(services: AppServices, id: string, limit: number): Promise<TooManyRequests | null> {
    const count = await this.#counter.increment(services, services.stores.counters, `rate:apikey:${id}`, WINDOW_MS);
    return count.value <= limit ? null : new TooManyRequests(Math.max(1, Math.ceil(count.resetAfterMs / 1000)));
  }
}

async function refuse(counting: Promise<TooManyRequests | null>): Promise<void> {
  const refusal = await counting;
  if (refusal !== null) throw refusal;
}

/** A token of RFC 9110, in lower case as Node has it. */
const headerName: Rule<string> = {
  expected: "the name of a header, and not Cookie",
  read: (value) =>
    typeof value === "string" && /^[\w!#$%&'*+.^`|~-]+$/.test(value) && value.toLowerCase() !== "cookie"
      ? value.toLowerCase()
      : REFUSED,
};

const rules = {
  keys: { ...thing<APIKeys>("APIKeys", (value) => value instanceof APIKeys), strict: true as const },
  store: { ...keyValueStore, strict: true as const },
  header: optional(headerName, "x-api-key"),
  perMinute: { ...positiveInteger, strict: true as const },
};
