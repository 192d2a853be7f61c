/** Every permission there is: a misspelt one does not compile where it is asked for by `may`. */
export type Permission =
  | "write:reviews"
  | "place:orders"
  | "write:books"
  | "read:costs"
  | "read:orders"
  | "read:metrics"
  | "grant:roles";

/** What each role may do. Somebody can have several. */
export const roles = {
  reader: ["write:reviews", "place:orders"],
  seller: ["write:books", "read:costs", "read:orders"],
  admin: ["read:metrics", "grant:roles"],
} as const satisfies Record<string, readonly Permission[]>;

export type RoleName = keyof typeof roles;
export const roleNames: readonly RoleName[] = ["reader", "seller", "admin"];
