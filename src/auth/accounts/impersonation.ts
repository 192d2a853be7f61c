import { ConfigurationError } from "../../core/configuration-error.ts";
import { optional, optionRule, resolveOptions, text } from "../../core/resolve-options.ts";
import type { Permission, UserProtocol } from "../../http/identity/identity.ts";

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
    if (permission === undefined) throw new ConfigurationError(`${owner}.permission`, "is missing");
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

const DAY_SECONDS = 86_400;
const rules = {
  permission: {
    ...optionRule<Permission>(text.expected, (value) => typeof value === "string" && value !== ""),
    strict: true as const,
  },
  maxSeconds: optional(
    optionRule<number>(
      "a whole number of seconds from 1 to 86,400",
      (value) => Number.isSafeInteger(value) && (value as number) >= 1 && (value as number) <= DAY_SECONDS,
    ),
    3_600,
  ),
};
