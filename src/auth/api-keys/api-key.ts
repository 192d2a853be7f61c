import type { StoredKey } from "./api-key-store.ts";

/** A key as its owner sees it. It contains no secret. */
export interface APIKey {
  readonly id: string;
  /** The identity of its owner. */
  readonly user: string;
  readonly name: string;
  /** The beginning of the key: `pk_` and its id. */
  readonly prefix: string;
  /** The last four characters of the key. */
  readonly lastFour: string;
  /** The permissions it is restricted to, or `null` for all permissions of its owner. */
  readonly permissions: readonly string[] | null;
  readonly perMinute: number | null;
  readonly createdAt: Date;
  /** `null` if it never expires. */
  readonly expiresAt: Date | null;
  /** Accurate to the minute, or `null` before its first use. */
  readonly lastUsedAt: Date | null;
}

/** A new key with its secret. */
export interface CreatedAPIKey extends APIKey {
  /** The key itself. It is returned only once: only its SHA-256 hash is stored. */
  readonly key: string;
}

/** The credential id under which a revocation is published. */
export function credentialId(id: string): string {
  return `apikey:${id}`;
}

/** Returns the public part of a stored key. */
export function shown({ id, record }: StoredKey): APIKey {
  const { user, name, lastFour, permissions, perMinute, createdAt, expiresAt, lastUsedAt } = record;
  return {
    id,
    user,
    name,
    prefix: `pk_${id}`,
    lastFour,
    permissions,
    perMinute,
    createdAt: new Date(createdAt),
    expiresAt: expiresAt === null ? null : new Date(expiresAt),
    lastUsedAt: lastUsedAt === null ? null : new Date(lastUsedAt),
  };
}
