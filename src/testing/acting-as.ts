import type { PorticoApp } from "../app.ts";
import { ACTING_AS } from "../http/actors.ts";
import type { AuthScope, CurrentUser } from "../http/identity.ts";

/** How a test is signed in. */
export interface ActingOptions {
  /** The way of signing in that gates see. @default "session" */
  readonly scope?: AuthScope;
}

/**
 * Headers that sign a request in as this user, whatever else it carries: on a route, at an upgrade, over `inject` and over a
 * real socket. Nothing is stored, and no middleware is asked; gates judge as they always do. They are worth nothing to
 * another application.
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
  user: CurrentUser,
  { scope = "session" }: ActingOptions = {},
): Readonly<Record<string, string>> {
  return { [ACTING_AS]: app.actors.enlist({ user, auth: scope }) };
}
