import type { ResolvedAccountOptions } from "../../auth/accounts/account-options.ts";
import { AuthenticationMiddleware } from "../../auth/backends/authentication-middleware.ts";
import { DeviceTokenBackend } from "../../auth/preset/device-token-backend.ts";
import { objectOf } from "../../http/routing/middleware.ts";
import type { Project } from "./project.ts";

/** The options of `authentication(...)` in the application, or `null` if there is no application that uses it. */
export async function accountOptionsOf(project: Project): Promise<ResolvedAccountOptions | null> {
  if ((await project.config()).app === undefined) return null;
  const { routes, sockets } = (await project.app()).table;
  const backends = [...routes, ...sockets]
    .flatMap(({ middleware }) => middleware.map(objectOf))
    .flatMap((object) => (object instanceof AuthenticationMiddleware ? object.backends : []));
  return backends.find((backend) => backend instanceof DeviceTokenBackend)?.account ?? null;
}
