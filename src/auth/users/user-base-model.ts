import type { UserProtocol } from "../../kernel/identity/identity.ts";

/**
 * A base class for your own user class: an authenticated user with a list of permissions.
 *
 * @example
 * ```ts
 * import { UserBaseModel } from "portico/auth";
 *
 * export class Member extends UserBaseModel {
 *   readonly identity: string;
 *   readonly displayName: string;
 *
 *   constructor(row: { id: number; name: string; permissions: string[] }) {
 *     super(row.permissions);
 *     this.identity = String(row.id);
 *     this.displayName = row.name;
 *   }
 * }
 * ```
 */
export abstract class UserBaseModel implements UserProtocol {
  readonly isAuthenticated = true as const;
  abstract readonly identity: string;
  abstract readonly displayName: string;
  /** The permissions of the user, such as `read:books`. */
  readonly permissions: readonly string[];

  constructor(permissions: readonly string[] = []) {
    this.permissions = permissions;
  }

  hasPermission(permission: string): boolean {
    return this.permissions.includes(permission);
  }
}
