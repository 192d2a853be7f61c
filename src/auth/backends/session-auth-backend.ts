import type { PorticoRequest } from "../../http/context/portico-request.ts";
import type { OpenApiSecurityScheme } from "../../http/routing/open-api-security-scheme.ts";
import { RequestSessions } from "../sessions/request-sessions.ts";
import { hasSessionCookie, SESSION_COOKIE } from "../sessions/session-cookie.ts";
import type { AuthResult } from "./auth-result.ts";
import { AuthenticationBackend } from "./authentication-backend.ts";

/**
 * Signs in by the cookie that `SessionMiddleware` provides; the identity is the id of the user who logged in.
 *
 * A cookie that a page of a foreign origin makes the browser send is no credential when the request changes state: a gate
 * answers 403 `CROSS_SITE_REFUSED`, a route without one sees nobody. Origins in the application's `origins` are not foreign.
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

  override get securityScheme(): OpenApiSecurityScheme {
    return { type: "apiKey", in: "cookie", name: SESSION_COOKIE };
  }

  /** Rejects when the store does, and where no `SessionMiddleware` runs before. */
  async authenticate({ sessions }: PorticoRequest): Promise<AuthResult> {
    if (!(sessions instanceof RequestSessions)) throw new TypeError("request.sessions is not SessionMiddleware's");
    return sessions.authenticate();
  }
}
