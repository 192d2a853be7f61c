/** All permissions. A misspelt permission in `may` does not compile. */
export type Permission =
  | "write:reviews"
  | "place:orders"
  | "write:books"
  | "read:costs"
  | "read:orders"
  | "read:metrics"
  | "grant:roles";

/** The permissions of each role. A user can have several roles. */
export const roles = {
  reader: ["write:reviews", "place:orders"],
  seller: ["write:books", "read:costs", "read:orders"],
  admin: ["read:metrics", "grant:roles"],
} as const satisfies Record<string, readonly Permission[]>;

export type RoleName = keyof typeof roles;
export const roleNames: readonly RoleName[] = ["reader", "seller", "admin"];
