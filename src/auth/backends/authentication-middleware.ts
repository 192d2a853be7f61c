import { isInstance, loggable } from "../../core/describe-error.ts";
import { isPromise, type MaybePromise } from "../../core/maybe-promise.ts";
import {
  type OptionRule,
  optional,
  REFUSED,
  required,
  resolveOptions,
  secondsUpTo,
  withMethod,
} from "../../core/resolve-options.ts";
import { withTimeout } from "../../core/work/with-timeout.ts";
import type { OpenAPISecurityScheme } from "../../http/routing/open-api-security-scheme.ts";
import { withContext } from "../../kernel/context/current-context.ts";
import { type HttpContext, identify, type WebSocketContext } from "../../kernel/context/http-context.ts";
import type { Next, ProductionNeeds } from "../../kernel/context/middleware-function.ts";
import type { PorticoRequest } from "../../kernel/context/portico-request.ts";
import { HttpException } from "../../kernel/exceptions/http-exception.ts";
import type { Credential } from "../../kernel/identity/credential.ts";
import {
  ANONYMOUS,
  type AuthScope,
  type CurrentUser,
  type Identity,
  type UserProtocol,
} from "../../kernel/identity/identity.ts";
import { AuthResult } from "../callers/auth-result.ts";
import { narrowUser } from "../users/narrow-user.ts";
import type { UserModel } from "../users/user-model.ts";
import { AuthenticationBackend } from "./authentication-backend.ts";

/** A user model in a database that Portico migrates. */
interface MigratedModel {
  readonly "~pendingMigrations"?: () => Promise<readonly string[]>;
}

export interface AuthenticationMiddlewareOptions {
  /** Loads users by identity. Pass the registered user class, because `request.user` has its type. */
  readonly userModel: UserModel<CurrentUser>;
  /** The backends, in the order in which they are tried. */
  readonly backend: AuthenticationBackend | readonly AuthenticationBackend[];
  /** The time limit of a backend, and of the lookup of its user, in seconds. @default 5 */
  readonly timeoutSeconds?: number;
}

/**
 * Authenticates the caller, once per request and once per socket. It never rejects a request: gates do.
 *
 * The backends are tried in order, and the first success wins. A backend that fails is skipped. If the request carried
 * a credential for it and no other backend succeeds, the caller is unknown, and gates throw 503 instead of 401. A
 * backend that throws an `HttpException` below 500 declines, and gates throw that exception.
 *
 * @example
 * ```ts
 * import { PorticoApp } from "portico";
 * import { type AuthenticationBackend, AuthenticationMiddleware, SimpleUser, useAuth } from "portico/auth";
 *
 * declare const backend: AuthenticationBackend;
 *
 * const app = new PorticoApp().use(new AuthenticationMiddleware({ userModel: SimpleUser, backend }));
 * app.get("/me", { auth: useAuth() }, ({ user }) => user.displayName);
 * ```
 */
export class AuthenticationMiddleware {
  readonly #userModel: UserModel<CurrentUser>;
  readonly #backends: readonly AuthenticationBackend[];
  readonly #challenge: string | undefined;
  readonly #headers: readonly string[];
  readonly #anonymous: Identity;
  readonly #timeoutMs: number;

  constructor(options: AuthenticationMiddlewareOptions) {
    const { userModel, backend, timeoutSeconds } = resolveOptions("AuthenticationMiddleware", options, middlewareRules);
    this.#userModel = userModel;
    this.#backends = backend;
    this.#timeoutMs = timeoutSeconds * 1000;
    this.#challenge = challengeOf(backend, []);
    this.#headers = backend.flatMap(({ headers }) => headers);
    this.#anonymous =
      this.#challenge === undefined ? ANONYMOUS : Object.freeze({ ...ANONYMOUS, challenge: this.#challenge });
  }

  /** @internal The backends, for tools that inspect the application. */
  get backends(): readonly AuthenticationBackend[] {
    return this.#backends;
  }

  /** @internal The user model, for tools that inspect the application. */
  get userModel(): UserModel<CurrentUser> {
    return this.#userModel;
  }

  /** The sign-in methods that its backends provide. At startup, gates are checked against them. */
  get scopes(): readonly AuthScope[] {
    return this.#backends.map(({ scope }) => scope);
  }

  /** The OpenAPI security schemes of its backends, by scope. */
  get securitySchemes(): Readonly<Record<string, OpenAPISecurityScheme>> {
    return Object.fromEntries(
      this.#backends.flatMap(({ scope, securityScheme }) =>
        securityScheme === null ? [] : [[scope, securityScheme] as const],
      ),
    );
  }

  /** The startup warnings of its backends. */
  get warnings(): readonly string[] {
    return this.#backends.flatMap(({ warnings }) => warnings);
  }

  /** @internal */
  get "~needs"(): ProductionNeeds {
    const { "~pendingMigrations": pendingMigrations } = this.#userModel as MigratedModel;
    const [stores] = this.#backends.flatMap((backend) => backend["~stores"] ?? []);
    return { pendingMigrations, stores };
  }

  async handle(ctx: HttpContext | WebSocketContext, next: Next): Promise<void> {
    identify(ctx, await this.#identify(ctx));
    await next();
    // A cache must not serve one caller's response to another.
    if (ctx.kind === "http" && ctx.isIdentityRead) ctx.outgoing.vary(...this.#headers);
  }

  async #identify(ctx: HttpContext | WebSocketContext): Promise<Identity> {
    let failure: unknown;
    let refusal: Error | undefined;
    const declined: AuthenticationBackend[] = [];
    for (const backend of this.#backends) {
      try {
        const found = await this.#ask(backend, ctx);
        if (found.user !== null) return this.#identity(backend, ctx, found);
        if (found.fault !== undefined) ctx.log.error({ scope: backend.scope }, found.fault);
        refusal ??= found.refusal;
        if (saysWhatItCarries(backend) && carries(backend, ctx)) declined.push(backend);
        if (found.reason !== undefined)
          ctx.log.debug({ scope: backend.scope, reason: found.reason }, "an authentication backend declined");
      } catch (error) {
        ctx.log.error({ err: loggable(error), scope: backend.scope }, "an authentication backend threw");
        if (carries(backend, ctx)) failure ??= error;
      }
    }
    if (failure !== undefined) return { ...this.#anonymous, failure };
    if (refusal !== undefined) return { ...this.#anonymous, refusal };
    if (declined.length === 0) return this.#anonymous;
    const challenge = challengeOf(this.#backends, declined);
    return { ...ANONYMOUS, isRejected: true, ...(challenge === undefined ? {} : { challenge }) };
  }

  async #ask(backend: AuthenticationBackend, ctx: HttpContext | WebSocketContext): Promise<Found> {
    const result: AuthResult | undefined = await this.#answerOf(backend, ctx.request);
    if (typeof result !== "object" || result === null)
      return { user: null, fault: "the backend did not return an AuthResult" };
    if (!result.success) return { user: null, ...result };
    const identity = asText(result.identity);
    if (identity === null) return { user: null, fault: "the backend returned an identity that is not a string" };
    if (identity === "") return { user: null, reason: "the backend returned an empty identity" };
    const user =
      ctx.services.actors.standInOf(identity) ?? (await inTime(this.#userModel.loadUser(identity), this.#timeoutMs));
    if (user === null || !user.isAuthenticated) return { user: null, reason: "the user was not found" };
    const { scope, credential } = result;
    if (isOutdated(user, credential))
      return { user: null, reason: "the credential was issued before the user's credentials were renewed" };
    const { permissions } = credential ?? {};
    return { user: permissions === undefined ? user : narrowUser(user, permissions), scope, credential };
  }

  /** Treats an `HttpException` below 500, such as 413 from reading the body, as a decline: the backend did not fail. */
  async #answerOf(backend: AuthenticationBackend, request: PorticoRequest): Promise<AuthResult> {
    try {
      return await inTime(backend.authenticate(request), this.#timeoutMs);
    } catch (error) {
      if (!isInstance(error, HttpException) || error.status >= 500) throw error;
      return AuthResult.decline(`the backend rejected the request: ${error.message}`, error);
    }
  }

  #identity(backend: AuthenticationBackend, ctx: HttpContext | WebSocketContext, found: Authenticated): Identity {
    const { user, scope, credential } = found;
    const identity: Identity = {
      user,
      auth: scope,
      // A backend that reads the current context gets the context of the request, as it did the first time.
      recheck: () =>
        withContext(ctx, async () => {
          const again = await this.#ask(backend, ctx);
          if (again.user === null || again.user.identity !== user.identity) return false;
          // Permissions may have changed, so later checks use the new user, unless something else has set the identity
          // since.
          if (ctx.identity === identity) identify(ctx, this.#identity(backend, ctx, again));
          return true;
        }),
      ...(credential === undefined ? {} : { credential }),
      ...(this.#challenge === undefined ? {} : { challenge: this.#challenge }),
    };
    return identity;
  }
}

interface Authenticated {
  readonly user: CurrentUser;
  readonly scope: AuthScope;
  readonly credential: Credential | undefined;
}
interface Declined {
  readonly user: null;
  readonly reason?: string;
  readonly refusal?: Error;
  /** How the backend violated its contract, which is logged as an error. */
  readonly fault?: string;
}
type Found = Authenticated | Declined;

/** Whether all credentials of the user were revoked since, by a new password or by "sign out everywhere". */
function isOutdated({ credentialVersion }: UserProtocol, credential: Credential | undefined): boolean {
  return (
    credentialVersion !== undefined && credential?.version !== undefined && credential.version !== credentialVersion
  );
}

/** Fails a backend that hangs, so that a request does not wait for it indefinitely. */
function inTime<T>(work: MaybePromise<T>, timeoutMs: number): MaybePromise<T> {
  return isPromise(work) ? withTimeout(timeoutMs, work) : work;
}

/**
 * Builds `WWW-Authenticate` from the challenges of all backends. A backend that declined a credential adds its error.
 */
function challengeOf(
  all: readonly AuthenticationBackend[],
  declined: readonly AuthenticationBackend[],
): string | undefined {
  const challenges = all
    .map((backend) => backend.challenge(declined.includes(backend)))
    .filter((text) => text !== null);
  return challenges.length === 0 ? undefined : challenges.join(", ");
}

/**
 * Converts the number that a backend in plain JavaScript may return, because `loadUser` takes a string. `null` for
 * other types.
 */
function asText(identity: unknown): string | null {
  return typeof identity === "string" || typeof identity === "number" ? String(identity) : null;
}

/** Whether the backend overrides `carries`. If not, a decline does not show that the request carried a credential. */
function saysWhatItCarries(backend: AuthenticationBackend): boolean {
  return backend.carries !== AuthenticationBackend.prototype.carries;
}

/** Assumes that a credential is present if the check itself throws. */
function carries(backend: AuthenticationBackend, { request }: HttpContext | WebSocketContext): boolean {
  try {
    return backend.carries(request);
  } catch {
    return true;
  }
}

const backends: OptionRule<readonly AuthenticationBackend[]> = {
  expected: "an AuthenticationBackend, or a list of them",
  read(value) {
    const list: readonly unknown[] = Array.isArray(value) ? value : [value];
    return list.every((entry) => entry instanceof AuthenticationBackend)
      ? [...(list as AuthenticationBackend[])]
      : REFUSED;
  },
};

const middlewareRules = {
  userModel: required(withMethod<UserModel<CurrentUser>>("a user model with loadUser(identity)", "loadUser")),
  backend: required(backends),
  timeoutSeconds: optional(secondsUpTo(600), 5),
};
