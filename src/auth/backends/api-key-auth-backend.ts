import { ConfigurationError } from "../../core/configuration-error.ts";
import {
  type OptionRule,
  optional,
  positiveInteger,
  REFUSED,
  resolveOptions,
  strict,
  thing,
} from "../../core/resolve-options.ts";
import type { OpenAPISecurityScheme } from "../../http/routing/open-api-security-scheme.ts";
import type { AppServices } from "../../kernel/context/app-services.ts";
import { currentContext } from "../../kernel/context/current-context.ts";
import { everyValueOf } from "../../kernel/context/messages.ts";
import type { PorticoRequest } from "../../kernel/context/portico-request.ts";
import { TooManyRequests } from "../../kernel/exceptions/http-exception.ts";
import { GuardedCounter } from "../../kernel/limits/guarded-counter.ts";
import { type KeyValueStore, keyValueStore } from "../../stores/key-value-store.ts";
import { credentialId } from "../api-keys/api-key.ts";
import { APIKeys } from "../api-keys/api-keys.ts";
import { AuthResult } from "../callers/auth-result.ts";
import { AuthenticationBackend } from "./authentication-backend.ts";

/** The options of `APIKeyAuthBackend`. */
export interface APIKeyAuthOptions {
  /**
   * The keys. Share the object with the routes that create them. @default `new APIKeys()`, in the app's durable store
   */
  readonly keys?: APIKeys;
  /** The store of the keys. Use it instead of `keys`. @default the app's durable store */
  readonly store?: KeyValueStore;
  /** The request header that carries the key. @default "X-API-Key" */
  readonly header?: string;
  /**
   * The number of uses per minute of a key without its own limit. More are rejected with 429. Each request is a use,
   * and so is each operation in a GraphQL batch and on a GraphQL socket. @default no limit
   */
  readonly perMinute?: number;
}

const WINDOW_MS = 60_000;

/**
 * Authenticates by an API key in the header `X-API-Key`. The identity is the owner of the key. A key with its own
 * permissions may do only what both the key and its owner may.
 *
 * The key must be sent in that header, exactly once, never in the query or a cookie. Expired, revoked and unknown keys
 * and wrong secrets are declined in the same way.
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
  /** The application of each request, because open connections are rechecked outside the request. */
  readonly #services = new WeakMap<PorticoRequest, AppServices>();

  constructor(options: APIKeyAuthOptions = {}) {
    super();
    const { keys, store, header, perMinute } = resolveOptions("APIKeyAuthBackend", options, rules);
    if (keys !== undefined && store !== undefined)
      throw new ConfigurationError("APIKeyAuthBackend", "takes either keys or store, not both");
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

  override get securityScheme(): OpenAPISecurityScheme {
    // The default header keeps its usual spelling.
    return { type: "apiKey", in: "header", name: this.#header === "x-api-key" ? "X-API-Key" : this.#header };
  }

  /** @internal */
  override get "~stores"(): string | undefined {
    return this.#keys.hasStore ? undefined : "API keys";
  }

  /** @internal The keys, for tools that sign stand-ins in. */
  get keys(): APIKeys {
    return this.#keys;
  }

  /** Rejects when the store fails. */
  async authenticate(request: PorticoRequest): Promise<AuthResult> {
    const text = this.#textOf(request);
    if (text === null) return AuthResult.decline("no API key, or more than one");
    const before = this.#services.get(request);
    const services = before ?? currentContext()?.services;
    if (services !== undefined) this.#services.set(request, services);
    const key = await this.#keys.verifyOn(services, text);
    if (key === null) return AuthResult.decline("the API key is not valid");
    // Rechecking the same request is not another use.
    const limit = key.perMinute ?? this.#perMinute;
    const count = services === undefined || limit === undefined ? null : () => this.#count(services, key.id, limit);
    const refusal = before === undefined ? await count?.() : null;
    if (refusal instanceof TooManyRequests)
      return AuthResult.decline("the API key has exceeded its rate limit", refusal);
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
    // Node keeps the first of some repeated headers and joins others. Neither result is the key that was sent.
    return everyValueOf(request, this.#header).length === 1 ? text : null;
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

/** A token of RFC 9110, in lower case as in Node's headers. */
const headerName: OptionRule<string> = {
  expected: "a header name other than Cookie",
  read: (value) =>
    typeof value === "string" && /^[\w!#$%&'*+.^`|~-]+$/.test(value) && value.toLowerCase() !== "cookie"
      ? value.toLowerCase()
      : REFUSED,
};

const rules = {
  keys: strict(thing<APIKeys>("an APIKeys object", (value) => value instanceof APIKeys)),
  store: strict(keyValueStore),
  header: optional(headerName, "x-api-key"),
  perMinute: strict(positiveInteger),
};
