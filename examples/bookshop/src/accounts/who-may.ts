import { useAuth } from "portico/auth";
import type { Permission } from "./roles.ts";

/** A gate for users with this permission, on a route, a field, a socket or a table. */
export function whoMay(permission: Permission) {
  return useAuth({ permissions: [permission] });
}
