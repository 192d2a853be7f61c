import type { OpenAPISecurityScheme } from "../../http/routing/open-api-security-scheme.ts";
import type { PorticoRequest } from "../../kernel/context/portico-request.ts";
import type { AuthResult } from "../callers/auth-result.ts";
import { RequestSessions } from "../sessions/request-sessions.ts";
import { hasSessionCookie, SESSION_COOKIE } from "../sessions/session-cookie.ts";
import { AuthenticationBackend } from "./authentication-backend.ts";

/**
 * Authenticates by the session cookie of `SessionMiddleware`. The identity is that of the user who signed in.
 *
 * The cookie is not accepted if a page of another origin sent a request that changes state (CSRF): a gate throws 403
 * `CROSS_SITE_REFUSED`, and a route without a gate sees an anonymous user. Origins in the app's `origins` are allowed.
 *
 * @example
 * ```ts
 * import { env, PorticoApp } from "portico";
 * import { AuthenticationMiddleware, SessionAuthBackend, SessionMiddleware, SimpleUser } from "portico/auth";
 *
 * new PorticoApp()
 *   .use(new SessionMiddleware({ secret: env("SESSION_SECRET") }))
 *   .use(new AuthenticationMiddleware({ userModel: SimpleUser, backend: new SessionAuthBackend() }));
 * ```
 */
export class SessionAuthBackend extends AuthenticationBackend {
  readonly scope = "session";

  override carries(request: PorticoRequest): boolean {
    return hasSessionCookie(request.headers["cookie"]);
  }

  override get securityScheme(): OpenAPISecurityScheme {
    return { type: "apiKey", in: "cookie", name: SESSION_COOKIE };
  }

  /** Rejects when the store fails, and without `SessionMiddleware`. */
  async authenticate(request: PorticoRequest): Promise<AuthResult> {
    return requiredSessions(request).authenticate();
  }
}

/** Throws without `SessionMiddleware`. */
export function requiredSessions({ sessions }: PorticoRequest): RequestSessions {
  if (sessions instanceof RequestSessions) return sessions;
  throw new TypeError("SessionAuthBackend requires SessionMiddleware: add it before AuthenticationMiddleware");
}
