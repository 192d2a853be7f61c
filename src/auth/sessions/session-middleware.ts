import { ConfigurationError } from "../../core/configuration-error.ts";
import { KeyRing, type Secret } from "../../core/key-ring.ts";
import { anything, integerFrom, optional, positiveInteger, resolveOptions } from "../../core/resolve-options.ts";
import type { AppServices } from "../../kernel/context/app-services.ts";
import type { HttpContext, WebSocketContext } from "../../kernel/context/http-context.ts";
import type { Next, ProductionNeeds } from "../../kernel/context/middleware-function.ts";
import { sessionsOf } from "../../kernel/identity/session-manager.ts";
import { type KeyValueStore, keyValueStore } from "../../stores/key-value-store.ts";
import { RequestSessions } from "./request-sessions.ts";
import { SESSION_COOKIE, sealId } from "./session-cookie.ts";
import { type SessionLimits, SessionStore } from "./session-store.ts";

export interface SessionMiddlewareOptions {
  /**
   * Signs the cookies: at least 32 bytes. In a list, the first secret signs and all of them verify, so put a new one
   * first.
   */
  readonly secret: Secret | readonly Secret[];
  /** The store for sessions. @default the app's durable store */
  readonly store?: KeyValueStore;
  /** Seconds after which an unused session expires. @default 7_200, two hours */
  readonly idleSeconds?: number;
  /** Seconds after which a session expires even if it is used. @default 86_400, a day */
  readonly absoluteSeconds?: number;
  /** Seconds after which an unused remembered session expires. @default 1_209_600, 14 days */
  readonly rememberedIdleSeconds?: number;
  /** Seconds after which a remembered session expires even if it is used. @default 2_592_000, 30 days */
  readonly rememberedAbsoluteSeconds?: number;
  /** The maximum number of sessions per user. Another one ends the oldest. @default 50 */
  readonly maxPerUser?: number;
}

/**
 * Provides `request.sessions`: sessions with a signed cookie, `__Host-portico_session`. It neither looks up sessions
 * nor rejects requests: `SessionAuthBackend` authenticates the caller. Add it before `AuthenticationMiddleware`.
 *
 * Browsers send the cookie over TLS and to `localhost`. Only the SHA-256 hash of a session id is stored. A response
 * that sets the cookie has `Cache-Control: private, no-store`, and one that depends on the caller has `Vary: Cookie`.
 *
 * @example
 * ```ts
 * import { env, PorticoApp } from "portico";
 * import { AuthenticationMiddleware, SessionAuthBackend, SessionMiddleware, SimpleUser, useAuth } from "portico/auth";
 *
 * const app = new PorticoApp();
 * app.use(new SessionMiddleware({ secret: env("SESSION_SECRET") }));
 * app.use(new AuthenticationMiddleware({ userModel: SimpleUser, backend: new SessionAuthBackend() }));
 * app.get("/me", { auth: useAuth({ scopes: ["session"] }) }, ({ user }) => user.displayName);
 * ```
 */
export class SessionMiddleware {
  readonly #ring: KeyRing;
  readonly #store: KeyValueStore | undefined;
  readonly #limits: SessionLimits;
  /** One for each application that uses this middleware. */
  readonly #stores = new WeakMap<AppServices, SessionStore>();

  constructor(options: SessionMiddlewareOptions) {
    const resolved = resolveOptions("SessionMiddleware", options, middlewareRules);
    this.#ring = new KeyRing("SessionMiddleware.secret", "session", resolved.secret);
    this.#store = resolved.store;
    this.#limits = {
      plain: lifetimes("absoluteSeconds", resolved.idleSeconds, resolved.absoluteSeconds),
      remembered: lifetimes(
        "rememberedAbsoluteSeconds",
        resolved.rememberedIdleSeconds,
        resolved.rememberedAbsoluteSeconds,
      ),
      maxPerUser: resolved.maxPerUser,
    };
  }

  /** @internal */
  get "~needs"(): ProductionNeeds {
    return this.#store === undefined ? { stores: "sessions" } : {};
  }

  async handle(ctx: HttpContext | WebSocketContext, next: Next): Promise<void> {
    const sessions = new RequestSessions(ctx, this.#ring, this.#storeOf(ctx.services));
    sessionsOf.put(ctx, sessions);
    await next();
    if (ctx.kind !== "http") return;
    if (sessions.isCookieSent) ctx.outgoing.header("cache-control", "private, no-store");
    if (sessions.isCookieSent || ctx.isIdentityRead) ctx.outgoing.vary("Cookie");
  }

  /** @internal The sessions of an application, and the cookie of one, for tools that sign stand-ins in. */
  sessionsOn({ stores, clock }: Pick<AppServices, "stores" | "clock">): {
    readonly store: SessionStore;
    readonly cookieOf: (id: string) => string;
  } {
    const store = new SessionStore(this.#store ?? stores.durable, clock, this.#limits);
    return { store, cookieOf: (id) => `${SESSION_COOKIE}=${sealId(this.#ring, id)}` };
  }

  #storeOf(services: AppServices): SessionStore {
    const known = this.#stores.get(services);
    if (known !== undefined) return known;
    const { store } = this.sessionsOn(services);
    this.#stores.set(services, store);
    return store;
  }
}

function lifetimes(option: string, idleSeconds: number, absoluteSeconds: number): SessionLimits["plain"] {
  if (idleSeconds > absoluteSeconds)
    throw new ConfigurationError(
      `SessionMiddleware.${option}`,
      `at least the idle time of ${idleSeconds} seconds`,
      absoluteSeconds,
    );
  return { idleMs: idleSeconds * 1000, absoluteMs: absoluteSeconds * 1000 };
}

/** Browsers limit the lifetime of cookies to 400 days. */
const lifetime = {
  ...integerFrom(1, 34_560_000),
  expected: "a whole number of seconds from 1 to 34,560,000 (400 days)",
};

const middlewareRules = {
  // `KeyRing` reads it, because the error of a rule would show the value.
  secret: anything,
  store: keyValueStore,
  idleSeconds: optional(lifetime, 7_200),
  absoluteSeconds: optional(lifetime, 86_400),
  rememberedIdleSeconds: optional(lifetime, 1_209_600),
  rememberedAbsoluteSeconds: optional(lifetime, 2_592_000),
  maxPerUser: optional(positiveInteger, 50),
};
