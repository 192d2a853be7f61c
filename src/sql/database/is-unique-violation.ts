/** Whether a row was to refer to one that is not there: 23503 of PostgreSQL, 787 of SQLite. */
export function isForeignKeyViolation(error: unknown): boolean {
  return hasCode(error, ["23503", 787]);
}

/** Whether another row has the value already: 23505 of PostgreSQL; 2067, and 1555 for a primary key, of SQLite. */
export function isUniqueViolation(error: unknown): boolean {
  return hasCode(error, ["23505", 2067, 1555]);
}

function hasCode(error: unknown, codes: readonly unknown[]): boolean {
  const { code, errcode } = (error ?? {}) as { readonly code?: unknown; readonly errcode?: unknown };
  return codes.includes(code) || codes.includes(errcode);
}
