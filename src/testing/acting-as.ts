import { ACTING_AS } from "../http/identity/actors.ts";
import type { AuthScope, CurrentUser, UserProtocol } from "../http/identity/identity.ts";
import type { PorticoApp } from "../portico-app.ts";

/** How a test is signed in. */
export interface ActingOptions {
  /** The way of signing in that gates see. @default "session" */
  readonly scope?: AuthScope;
}

/**
 * Headers that sign a request in as this user, whatever else it carries: on a route, at an upgrade, over `inject` and over a
 * real socket. Nothing is stored, and no middleware is asked; gates judge as they always do. Other applications ignore them, and
 * they expire after an hour by the application's clock; `client.as` renews them. In production (`NODE_ENV=production`) this throws
 * `ConfigurationError`, and the header is ignored.
 *
 * Any user will do, a `SimpleUser` too, whichever class is registered: where the code under test reads members of the
 * registered class, hand in one of those.
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
  // A test may act as a simpler user than the registered one: whoever reads more of it hands in more.
  const acting: unknown = user;
  return { [ACTING_AS]: app.actors.enlist({ user: acting as CurrentUser, auth: scope }) };
}
