import { UserBaseModel } from "./user-base-model.ts";

/**
 * A user with a name and permissions, for tests and first steps. `loadUser` returns a user for every identity.
 *
 * @example
 * ```ts
 * import { SimpleUser } from "portico/auth";
 *
 * new SimpleUser("ann", ["read:books"]).hasPermission("read:books"); // true
 * ```
 */
export class SimpleUser extends UserBaseModel {
  readonly username: string;
  readonly identity: string;
  readonly displayName: string;

  constructor(username: string, permissions: readonly string[] = []) {
    super(permissions);
    this.username = username;
    this.identity = username;
    this.displayName = username;
  }

  get narrowedFacts(): readonly string[] {
    return ["username"];
  }

  static async loadUser(identity: string): Promise<SimpleUser | null> {
    return new SimpleUser(identity);
  }
}
