import { ACTING_AS } from "../kernel/identity/actors.ts";
import type { AuthScope, CurrentUser, UserProtocol } from "../kernel/identity/identity.ts";
import type { PorticoApp } from "../portico-app.ts";

/** The options of `actingAs`. */
export interface ActingOptions {
  /** The sign-in method that gates see. @default "session" */
  readonly scope?: AuthScope;
}

/**
 * Returns headers that authenticate a request as this user, whatever other credentials it carries. They work for routes
 * and WebSocket upgrades, with `inject` and over a real socket. Nothing is stored and no authentication backend is
 * called, but gates check the user as usual. Other applications ignore the headers. They expire after an hour by the
 * application's clock, and `client.as` renews them. In production (`NODE_ENV=production`) this function throws
 * `ConfigurationError`, and the header is ignored.
 *
 * Any user works, even a `SimpleUser` if another class is registered. If the code under test reads members of the
 * registered class, pass an instance of it.
 *
 * @example
 * ```ts
 * import { PorticoApp } from "portico";
 * import { SimpleUser, useAuth } from "portico/auth";
 * import { actingAs, testClient } from "portico/testing";
 *
 * const app = new PorticoApp({ logger: false }).get("/me", { auth: useAuth({ scopes: ["jwt"] }) }, ({ user }) => user.displayName);
 * const ann = new SimpleUser("ann", ["read:books"]);
 *
 * await testClient(app).get("/me", { headers: actingAs(app, ann, { scope: "jwt" }) });
 * await testClient(app).as(ann, { scope: "jwt" }).get("/me"); // the same
 * ```
 */
export function actingAs(
  app: PorticoApp,
  user: UserProtocol,
  { scope = "session" }: ActingOptions = {},
): Readonly<Record<string, string>> {
  // A test may act as a simpler user than the registered class.
  const acting: unknown = user;
  return { [ACTING_AS]: app.actors.enlist({ user: acting as CurrentUser, auth: scope }) };
}
