import { ConfigurationError } from "../core/configuration-error.ts";
import { isPromise, type MaybePromise } from "../core/maybe-promise.ts";
import { optional, REFUSED, type Rule, resolveOptions, rule } from "../core/resolve-options.ts";
import { within } from "../core/within.ts";
import { withContext } from "../http/context/current-context.ts";
import { type HttpContext, identify, type WebSocketContext } from "../http/context/http-context.ts";
import { HttpException } from "../http/context/http-exception.ts";
import type { PorticoRequest } from "../http/context/portico-request.ts";
import type { Credential } from "../http/identity/credential.ts";
import { type AuthScope, type CurrentUser, type Identity, NOBODY } from "../http/identity/identity.ts";
import type { Next } from "../http/routing/middleware.ts";
import type { OpenApiSecurityScheme } from "../http/routing/open-api-security-scheme.ts";
import { AuthResult } from "./backends/auth-result.ts";
import { AuthenticationBackend } from "./backends/authentication-backend.ts";
import { narrowUser } from "./users/narrow-user.ts";
import type { UserModel } from "./users/user-model.ts";

export interface AuthenticationMiddlewareOptions {
  /** Turns identities into users: the registered class, or `request.user` would not be what its type says. */
  readonly userModel: UserModel<CurrentUser>;
  /** The ways to sign in, in the order in which they are asked. */
  readonly backend: AuthenticationBackend | readonly AuthenticationBackend[];
  /** How long a backend, and the look-up of its user, may each take before it counts as failed. @default 5 */
  readonly timeoutSeconds?: number;
}

/**
 * Finds out who is calling, once per request and once per socket. It never refuses: that is what gates are for.
 *
 * The backends are asked in order, and the first success counts. One that fails is passed over; when it had a credential to
 * look at and none of the others succeeds, it is not known who is calling, and gates say 503 instead of 401. One that throws
 * an `HttpException` below 500 declines: gates answer that.
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
  readonly #nobody: Identity;
  readonly #timeoutMs: number;

  constructor(options: AuthenticationMiddlewareOptions) {
    const { userModel, backend, timeoutSeconds } = resolveOptions("AuthenticationMiddleware", options, middlewareRules);
    if (userModel === undefined) throw new ConfigurationError("AuthenticationMiddleware.userModel", "is missing");
    if (backend === undefined) throw new ConfigurationError("AuthenticationMiddleware.backend", "is missing");
    this.#userModel = userModel;
    this.#backends = backend;
    this.#timeoutMs = timeoutSeconds * 1000;
    this.#challenge = challengeOf(backend, []);
    this.#headers = backend.flatMap(({ headers }) => headers);
    this.#nobody = this.#challenge === undefined ? NOBODY : Object.freeze({ ...NOBODY, challenge: this.#challenge });
  }

  /** The ways of signing in that its backends give. When the application starts, gates are checked against them. */
  get scopes(): readonly AuthScope[] {
    return this.#backends.map(({ scope }) => scope);
  }

  /** How the credentials of its backends are sent, by scope; without those that do not tell. */
  get securitySchemes(): Readonly<Record<string, OpenApiSecurityScheme>> {
    return Object.fromEntries(
      this.#backends.flatMap(({ scope, securityScheme }) =>
        securityScheme === null ? [] : [[scope, securityScheme] as const],
      ),
    );
  }

  /** What its backends have to say when the application starts. */
  get warnings(): readonly string[] {
    return this.#backends.flatMap(({ warnings }) => warnings);
  }

  async handle(ctx: HttpContext | WebSocketContext, next: Next): Promise<void> {
    identify(ctx, await this.#identify(ctx));
    await next();
    // A cache must not show to one caller what another was told.
    if (ctx.kind === "http" && ctx.isIdentityRead) ctx.outgoing.vary(...this.#headers);
  }

  async #identify(ctx: HttpContext | WebSocketContext): Promise<Identity> {
    let failure: unknown;
    let refusal: Error | undefined;
    const declined: AuthenticationBackend[] = [];
    for (const backend of this.#backends) {
      try {
        const found = await this.#ask(backend, ctx.request);
        if (found.user !== null) return this.#identity(backend, ctx, found);
        if (found.isFault === true) ctx.log.error({ scope: backend.scope }, found.reason ?? "a backend is wrong");
        refusal ??= found.refusal;
        if (saysWhatItCarries(backend) && carries(backend, ctx)) declined.push(backend);
        if (found.reason !== undefined) ctx.log.debug({ scope: backend.scope, reason: found.reason }, "not signed in");
      } catch (error) {
        ctx.log.error({ err: error, scope: backend.scope }, "a backend could not find out who is calling");
        if (carries(backend, ctx)) failure ??= error;
      }
    }
    if (failure !== undefined) return { ...this.#nobody, failure };
    if (refusal !== undefined) return { ...this.#nobody, refusal };
    if (declined.length === 0) return this.#nobody;
    const challenge = challengeOf(this.#backends, declined);
    return { ...NOBODY, isRejected: true, ...(challenge === undefined ? {} : { challenge }) };
  }

  async #ask(backend: AuthenticationBackend, request: PorticoRequest): Promise<Found> {
    const result: AuthResult | undefined = await this.#answerOf(backend, request);
    if (typeof result !== "object" || result === null)
      return { user: null, reason: "the backend gave no AuthResult", isFault: true };
    if (!result.success) return { user: null, ...result };
    const identity = asText(result.identity);
    if (identity === null)
      return { user: null, reason: "the backend gave an identity that is no string", isFault: true };
    if (identity === "") return { user: null, reason: "the backend found no identity" };
    const user = await inTime(this.#userModel.loadUser(identity), this.#timeoutMs);
    if (user === null || !user.isAuthenticated) return { user: null, reason: "the user is not there" };
    const { scope, credential } = result;
    if (isOutdated(user, credential)) return { user: null, reason: "the credential is of an older generation" };
    const { permissions } = credential ?? {};
    return { user: permissions === undefined ? user : narrowUser(user, permissions), scope, credential };
  }

  /** What a backend throws to refuse the request, such as 413 from its body, is a decline: it did find out. */
  async #answerOf(backend: AuthenticationBackend, request: PorticoRequest): Promise<AuthResult> {
    try {
      return await inTime(backend.authenticate(request), this.#timeoutMs);
    } catch (error) {
      if (!(error instanceof HttpException) || error.status >= 500) throw error;
      return AuthResult.decline(`the backend refused the request: ${error.message}`, error);
    }
  }

  #identity(backend: AuthenticationBackend, ctx: HttpContext | WebSocketContext, found: Somebody): Identity {
    const { user, scope, credential } = found;
    const identity: Identity = {
      user,
      auth: scope,
      // A backend that asks for the current context finds the one that it found at first.
      recheck: () =>
        withContext(ctx, async () => {
          const again = await this.#ask(backend, ctx.request);
          if (again.user === null || again.user.identity !== user.identity) return false;
          // What the user may do may have changed, and what comes next is judged by that; another's word about the caller stays.
          if (ctx.identity === identity) identify(ctx, this.#identity(backend, ctx, again));
          return true;
        }),
      ...(credential === undefined ? {} : { credential }),
      ...(this.#challenge === undefined ? {} : { challenge: this.#challenge }),
    };
    return identity;
  }
}

interface Somebody {
  readonly user: CurrentUser;
  readonly scope: AuthScope;
  readonly credential: Credential | undefined;
}
interface Nobody {
  readonly user: null;
  readonly reason?: string;
  readonly refusal?: Error;
  /** Whether the backend did what none may: that is worth a line. */
  readonly isFault?: boolean;
}
type Found = Somebody | Nobody;

/** Whether the user's credentials were all replaced since: by a new password, or by "sign out everywhere". */
function isOutdated({ credentialVersion }: CurrentUser, credential: Credential | undefined): boolean {
  return (
    credentialVersion !== undefined && credential?.version !== undefined && credential.version !== credentialVersion
  );
}

/** A backend that hangs has failed: a request does not wait for it indefinitely. */
function inTime<T>(work: MaybePromise<T>, timeoutMs: number): MaybePromise<T> {
  return isPromise(work) ? within(timeoutMs, work) : work;
}

/** What `WWW-Authenticate` says: each way has its word, and those whose credential was declined say so. */
function challengeOf(
  all: readonly AuthenticationBackend[],
  declined: readonly AuthenticationBackend[],
): string | undefined {
  const challenges = all
    .map((backend) => backend.challenge(declined.includes(backend)))
    .filter((text) => text !== null);
  return challenges.length === 0 ? undefined : challenges.join(", ");
}

/** A backend in plain JavaScript may give a number: `loadUser` gets a string, always. `null` for anything else. */
function asText(identity: unknown): string | null {
  return typeof identity === "string" || typeof identity === "number" ? String(identity) : null;
}

/** Of one that does not, a decline says nothing about whether there was a credential. */
function saysWhatItCarries(backend: AuthenticationBackend): boolean {
  return backend.carries !== AuthenticationBackend.prototype.carries;
}

/** One that fails here, too, is taken to carry. */
function carries(backend: AuthenticationBackend, { request }: HttpContext | WebSocketContext): boolean {
  try {
    return backend.carries(request);
  } catch {
    return true;
  }
}

const backends: Rule<readonly AuthenticationBackend[]> = {
  expected: "an AuthenticationBackend, or a list of them",
  read(value) {
    const list: readonly unknown[] = Array.isArray(value) ? value : [value];
    return list.every((entry) => entry instanceof AuthenticationBackend)
      ? [...(list as AuthenticationBackend[])]
      : REFUSED;
  },
};

const positiveNumber: Rule<number> = rule(
  "a number of seconds above 0",
  (value) => typeof value === "number" && value > 0 && value <= 600,
);

const middlewareRules = {
  userModel: rule<UserModel<CurrentUser>>(
    "something with loadUser(identity)",
    (value) => typeof (value as UserModel | null)?.loadUser === "function",
  ),
  backend: backends,
  timeoutSeconds: optional(positiveNumber, 5),
};
