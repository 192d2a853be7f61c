import { AuthenticationMiddleware } from "../../auth/backends/authentication-middleware.ts";
import { SessionMiddleware } from "../../auth/sessions/session-middleware.ts";
import { objectOf } from "../../http/routing/middleware.ts";
import type { MiddlewareFunction } from "../../kernel/context/middleware-function.ts";
import type { PorticoApp } from "../../portico-app.ts";

/** The middleware that signs callers in. An application may have more than one. */
export interface SignIn {
  readonly authentication: AuthenticationMiddleware;
  readonly sessions: SessionMiddleware | null;
}

/** The sign-in in a list of middleware; `null` if the list has none that this module knows. */
export function signInOf(middleware: readonly MiddlewareFunction[]): SignIn | null {
  const objects = middleware.map(objectOf);
  const authentication = objects.findLast((object) => object instanceof AuthenticationMiddleware);
  const sessions = objects.findLast((object) => object instanceof SessionMiddleware) ?? null;
  return authentication === undefined ? null : { authentication, sessions };
}

/** All sign-ins of an application, and a path whose middleware includes them. */
export function signInsOf(app: PorticoApp): readonly SignIn[] {
  const { routes, sockets } = app.table;
  const found = new Map<AuthenticationMiddleware, SignIn>();
  for (const { middleware } of [...routes, ...sockets]) {
    const signIn = signInOf(middleware);
    if (signIn !== null && !found.has(signIn.authentication)) found.set(signIn.authentication, signIn);
  }
  return [...found.values()];
}
