import type { ResolvedAccountOptions } from "../../auth/accounts/account-options.ts";
import { APIKeyAuthBackend } from "../../auth/backends/api-key-auth-backend.ts";
import type { AuthenticationBackend } from "../../auth/backends/authentication-backend.ts";
import { AuthenticationMiddleware } from "../../auth/backends/authentication-middleware.ts";
import { SessionAuthBackend } from "../../auth/backends/session-auth-backend.ts";
import { DeviceTokenBackend } from "../../auth/preset/device-token-backend.ts";
import { objectOf } from "../../http/routing/middleware.ts";
import type { Project } from "./project.ts";

/** The options of `authentication(...)` in the application, or `null` if there is no application that uses it. */
export async function accountOptionsOf(project: Project): Promise<ResolvedAccountOptions | null> {
  const backends = await backendsOf(project);
  return backends.find((backend) => backend instanceof DeviceTokenBackend)?.account ?? null;
}

/** Whether the application has a backend beside those of `authentication(...)`, which may find other levels of a sign-in. */
export async function hasOwnBackends(project: Project): Promise<boolean> {
  const known = [DeviceTokenBackend, SessionAuthBackend, APIKeyAuthBackend];
  return (await backendsOf(project)).some((backend) => !known.some((kind) => backend instanceof kind));
}

async function backendsOf(project: Project): Promise<readonly AuthenticationBackend[]> {
  if ((await project.config()).app === undefined) return [];
  const { routes, sockets } = (await project.app()).table;
  return [...routes, ...sockets]
    .flatMap(({ middleware }) => middleware.map(objectOf))
    .flatMap((object) => (object instanceof AuthenticationMiddleware ? object.backends : []));
}
