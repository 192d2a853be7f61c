import { useAuth } from "portico/auth";
import { userModel } from "portico/sql";
import { database } from "../database.ts";
import { stores } from "../stores.ts";
import { type Permission, roles } from "./roles.ts";

/** Who is signed in. Whoever registers is a reader. With the bus, a disabled user is shown out in every process at once. */
export class User extends userModel(database, { bus: stores.bus, roles: ["reader"] }) {
  may(permission: Permission): boolean {
    return this.hasPermission(permission);
  }
}

// From here on `user` is this class in every handler, resolver and gate.
declare module "portico" {
  interface Register {
    user: User;
  }
}

/** The gate of a route or a socket; a field of the graph has `auth: (user) => user.may(...)`. */
export function whoMay(permission: Permission) {
  return useAuth({ permissions: [permission] });
}

/** Writes the roles down as they stand in roles.ts. */
export async function defineRoles(): Promise<void> {
  for (const [name, permissions] of Object.entries(roles)) await User.objects.defineRole(name, permissions);
}
