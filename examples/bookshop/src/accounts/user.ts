import { userModel } from "portico/sql";
import { database } from "../database.ts";
import { stores } from "../stores.ts";
import { type Permission, roles } from "./roles.ts";

/**
 * The signed-in user. New users are readers. Because of the bus, a disabled user is signed out in every process
 * immediately.
 */
export class User extends userModel(database, { bus: stores.bus, roles: ["reader"] }) {
  /** An API key with its own permissions may use these members, and `may` then asks both the key and the user. */
  override get narrowedFacts(): readonly string[] {
    return [...super.narrowedFacts, "may"];
  }
  may(permission: Permission): boolean {
    return this.hasPermission(permission);
  }
}

// From here on, `user` has this class in every handler, resolver and gate.
declare module "portico" {
  interface Register {
    user: User;
  }
}

/** Writes the roles in roles.ts to the database. */
export async function defineRoles(): Promise<void> {
  for (const [name, permissions] of Object.entries(roles)) await User.objects.defineRole(name, permissions);
}
