import type { StoredKey } from "./api-key-store.ts";

/** A key as its owner sees it. Nothing in it signs anybody in. */
export interface APIKey {
  readonly id: string;
  /** The identity of its owner. */
  readonly user: string;
  readonly name: string;
  /** How it begins: `pk_` and its id. */
  readonly prefix: string;
  /** How it ends. */
  readonly lastFour: string;
  /** What it may do at most; `null` for all that its owner may do. */
  readonly permissions: readonly string[] | null;
  readonly perMinute: number | null;
  readonly createdAt: Date;
  /** `null` for never. */
  readonly expiresAt: Date | null;
  /** Exact to the minute; `null` before its first use. */
  readonly lastUsedAt: Date | null;
}

/** A key that was just made. */
export interface CreatedAPIKey extends APIKey {
  /** The key itself. It is shown this once: only its SHA-256 is stored. */
  readonly key: string;
}

/** By what name a key is revoked. */
export function credentialId(id: string): string {
  return `apikey:${id}`;
}

/** A stored key, without what must not be seen. */
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
