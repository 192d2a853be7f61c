/** What is kept of an API key. Times are milliseconds since 1970. */
export interface APIKeyRecord {
  readonly user: string;
  /** The SHA-256 of the key. */
  readonly hash: string;
  /** The last characters of the key. */
  readonly lastFour: string;
  readonly name: string;
  /** `null`: whatever its owner may do. */
  readonly permissions: readonly string[] | null;
  /** `null`: as often as the backend lets it. */
  readonly perMinute: number | null;
  readonly createdAt: number;
  /** `null`: never. */
  readonly expiresAt: number | null;
  readonly lastUsedAt: number | null;
  /** The key that it had before it was renewed, and until when that still counts. */
  readonly previous: { readonly hash: string; readonly until: number } | null;
  /** Written, but not yet in the list of its owner's keys: it signs nobody in. */
  readonly isPending: boolean;
}

/** What was stored, or `null` for what is no record. */
export function parseKeyRecord(text: string | null): APIKeyRecord | null {
  if (text === null) return null;
  try {
    const value = JSON.parse(text) as Partial<Record<keyof APIKeyRecord, unknown>> | null;
    const fits = Object.entries(CHECKS).every(([key, isRight]) => isRight(value?.[key as keyof APIKeyRecord]));
    return fits ? (value as APIKeyRecord) : null;
  } catch {
    return null;
  }
}

type Check = (value: unknown) => boolean;
const isText: Check = (value) => typeof value === "string";
const isNumber: Check = (value) => typeof value === "number";
const orNull =
  (check: Check): Check =>
  (value) =>
    value === null || check(value);

const CHECKS: Readonly<Record<keyof APIKeyRecord, Check>> = {
  user: isText,
  hash: isText,
  lastFour: isText,
  name: isText,
  permissions: orNull((value) => Array.isArray(value) && value.every(isText)),
  perMinute: orNull(isNumber),
  createdAt: isNumber,
  expiresAt: orNull(isNumber),
  lastUsedAt: orNull(isNumber),
  previous: orNull((value) => {
    const { hash, until } = value as { readonly hash?: unknown; readonly until?: unknown };
    return isText(hash) && isNumber(until);
  }),
  isPending: (value) => typeof value === "boolean",
};
