/** Whether a referenced row does not exist: 23503 in PostgreSQL, 787 in SQLite. */
export function isForeignKeyViolation(error: unknown): boolean {
  return hasCode(error, ["23503", 787]);
}

/** Whether another row already has the value: 23505 in PostgreSQL; 2067, or 1555 for a primary key, in SQLite. */
export function isUniqueViolation(error: unknown): boolean {
  return hasCode(error, ["23505", 2067, 1555]);
}

function hasCode(error: unknown, codes: readonly unknown[]): boolean {
  const { code, errcode } = (error ?? {}) as { readonly code?: unknown; readonly errcode?: unknown };
  return codes.includes(code) || codes.includes(errcode);
}
