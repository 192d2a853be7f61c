/** All permissions. A misspelt permission in `may` does not compile. */
export type Permission =
  | "write:reviews"
  | "place:orders"
  | "sell:books"
  | "write:books"
  | "read:costs"
  | "read:orders"
  | "ship:orders"
  | "read:accounts"
  | "read:metrics"
  | "grant:roles"
  | "act:as-users";

/** The permissions of each role. A user can have several roles. */
export const roles = {
  reader: ["write:reviews", "place:orders"],
  /** Sells their own books: see book-rules.ts and order-rules.ts. */
  seller: ["sell:books"],
  /** Works in the shop, with all books and all orders. */
  staff: ["write:books", "read:costs", "read:orders", "ship:orders"],
  admin: ["read:accounts", "read:metrics", "grant:roles", "act:as-users"],
} as const satisfies Record<string, readonly Permission[]>;

export type RoleName = keyof typeof roles;
export const roleNames: readonly RoleName[] = ["reader", "seller", "staff", "admin"];
