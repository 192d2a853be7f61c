import type { PlainText } from "../../http/text/plain-text.ts";

/** The stored data of an API key. Times are milliseconds since 1970. */
export interface APIKeyRecord {
  readonly user: string;
  /** The SHA-256 hash of the key. */
  readonly hash: string;
  /** The last characters of the key. */
  readonly lastFour: string;
  readonly name: PlainText;
  /** `null` for all permissions of its owner. */
  readonly permissions: readonly string[] | null;
  /** `null` for the limit of the backend. */
  readonly perMinute: number | null;
  readonly createdAt: number;
  /** `null` if it never expires. */
  readonly expiresAt: number | null;
  readonly lastUsedAt: number | null;
  /** The hash before the last renewal, and the time until which it is valid. */
  readonly previous: { readonly hash: string; readonly until: number } | null;
  /** Whether the record is written but not yet in the owner's list. A pending key is not valid. */
  readonly isPending: boolean;
}

/** Parses a stored record. Returns `null` if it is not valid. */
export function parseKeyRecord(text: string | null): APIKeyRecord | null {
  if (text === null) return null;
  try {
    // A `null` throws below, as text that is not JSON does.
    const value = JSON.parse(text) as Partial<Record<keyof APIKeyRecord, unknown>>;
    const fits = Object.entries(CHECKS).every(([key, isRight]) => isRight(value[key as keyof APIKeyRecord]));
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
