import { integerFrom, optional, required, resolveOptions, strict, textLike } from "../../core/resolve-options.ts";
import type { Permission, UserProtocol } from "../../kernel/identity/identity.ts";

/** Lets administrators act as users. */
export interface ImpersonationOptions {
  /** The permission that an administrator must have. Users who have it too cannot be impersonated. */
  readonly permission: Permission;
  /** Seconds after which it ends, at most a day. @default 3_600, an hour */
  readonly maxSeconds?: number;
}

/** The rules of impersonation. */
export class Impersonation {
  readonly permission: Permission;
  readonly maxMs: number;

  constructor(owner: string, options: ImpersonationOptions) {
    const { permission, maxSeconds } = resolveOptions(owner, options, rules);
    this.permission = permission;
    this.maxMs = maxSeconds * 1000;
  }

  /**
   * Whether the administrator may act as the user: with the permission, and only as another user who has no permission
   * that the administrator lacks and may not impersonate others.
   */
  permits(admin: UserProtocol, user: UserProtocol): boolean {
    if (admin.identity === user.identity) return false;
    if (!has(admin, this.permission) || has(user, this.permission)) return false;
    return permissionsOf(user).every((permission) => has(admin, permission));
  }
}

/** Only `true` allows: a class in plain JavaScript may return a promise, which is truthy. */
function has(user: UserProtocol, permission: string): boolean {
  return (user.hasPermission(permission) as unknown) === true;
}

/** The list that every `UserBaseModel` has. */
function permissionsOf(user: UserProtocol & { readonly permissions?: unknown }): readonly string[] {
  const { permissions } = user;
  if (Array.isArray(permissions) || permissions instanceof Set) return [...(permissions as Iterable<string>)];
  throw new TypeError("authentication.impersonation requires a user class with a list of its `permissions`");
}

const rules = {
  permission: required(strict(textLike<Permission>("a non-empty string", /./s))),
  maxSeconds: optional(integerFrom(1, 86_400, "seconds"), 3_600),
};
