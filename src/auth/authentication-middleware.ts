import { ConfigurationError } from "../core/configuration-error.ts";
import { REFUSED, type Rule, resolveOptions, rule } from "../core/options.ts";
import { type HttpContext, identify, type WebSocketContext } from "../http/context.ts";
import { type CurrentUser, type Identity, NOBODY } from "../http/identity.ts";
import type { Next } from "../http/middleware.ts";
import { AuthenticationBackend } from "./backends/authentication-backend.ts";
import type { UserModel } from "./users/user-model.ts";

export interface AuthenticationMiddlewareOptions {
  /** Turns identities into users: the registered class, or `request.user` would not be what its type says. */
  readonly userModel: UserModel<CurrentUser>;
  /** The ways to sign in, in the order in which they are asked. */
  readonly backend: AuthenticationBackend | readonly AuthenticationBackend[];
}

/**
 * Finds out who is calling, once per request and once per socket. It never refuses: that is what gates are for.
 *
 * The backends are asked in order, and the first success counts. One that fails is passed over; when it had a credential to
 * look at and none of the others succeeds, it is not known who is calling, and gates say 503 instead of 401.
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

  constructor(options: AuthenticationMiddlewareOptions) {
    const { userModel, backend } = resolveOptions("AuthenticationMiddleware", options, middlewareRules);
    if (userModel === undefined) throw new ConfigurationError("AuthenticationMiddleware.userModel", "is missing");
    if (backend === undefined) throw new ConfigurationError("AuthenticationMiddleware.backend", "is missing");
    this.#userModel = userModel;
    this.#backends = backend;
    const challenges = backend.map((entry) => entry.challenge()).filter((text) => text !== null);
    this.#challenge = challenges.length === 0 ? undefined : challenges.join(", ");
  }

  async handle(ctx: HttpContext | WebSocketContext, next: Next): Promise<void> {
    const identity = await this.#identify(ctx);
    identify(ctx, this.#challenge === undefined ? identity : { ...identity, challenge: this.#challenge });
    await next();
  }

  async #identify(ctx: HttpContext | WebSocketContext): Promise<Identity> {
    const { request } = ctx;
    let failure: unknown;
    let refusal: Error | undefined;
    for (const backend of this.#backends) {
      try {
        const result = await backend.authenticate(request);
        const identity = result.success ? asText(result.identity) : "";
        const user = identity === "" ? null : await this.#userModel.loadUser(identity);
        if (result.success && user !== null) return { user, auth: result.scope };
        if (!result.success) refusal ??= result.refusal;
      } catch (error) {
        ctx.log.error({ err: error, scope: backend.scope }, "a backend could not find out who is calling");
        if (carries(backend, ctx)) failure ??= error;
      }
    }
    if (failure !== undefined) return { ...NOBODY, failure };
    return refusal === undefined ? NOBODY : { ...NOBODY, refusal };
  }
}

/** A backend in plain JavaScript may give a number: `loadUser` gets a string, always. */
function asText(identity: unknown): string {
  return typeof identity === "string" || typeof identity === "number" ? String(identity) : "";
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

const middlewareRules = {
  userModel: rule<UserModel<CurrentUser>>(
    "something with loadUser(identity)",
    (value) => typeof (value as UserModel | null)?.loadUser === "function",
  ),
  backend: backends,
};
