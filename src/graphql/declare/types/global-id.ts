const MAX_LENGTH = 1_000;

/** Returns the id of an object among all objects of the schema: its type and its key as unpadded base64url. */
export function globalId(type: string, key: string): string {
  return Buffer.from(`${type}:${key}`).toString("base64url");
}

/**
 * Returns the type and the key in a global id, or `null` if it is malformed. Only the canonical encoding is valid, and no
 * key has a NUL character, which PostgreSQL rejects.
 */
export function openGlobalId(id: string): { readonly type: string; readonly key: string } | null {
  if (id.length > MAX_LENGTH) return null;
  const text = Buffer.from(id, "base64url").toString();
  const end = text.indexOf(":");
  if (end < 1 || text.includes("\0") || Buffer.from(text).toString("base64url") !== id) return null;
  return { type: text.slice(0, end), key: text.slice(end + 1) };
}
