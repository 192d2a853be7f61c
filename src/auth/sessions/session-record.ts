/** What is kept of a session. Times are milliseconds since 1970. */
export interface SessionRecord {
  readonly user: string;
  readonly issuedAt: number;
  readonly seenAt: number;
  readonly device: string;
  readonly address: string;
  readonly isRemembered: boolean;
  /** The absolute lifetime it was given at its start, in milliseconds. */
  readonly lifetimeMs: number;
  /** Written, but not yet in the list of its user's sessions: it signs nobody in. */
  readonly isPending: boolean;
  /** The user's `credentialVersion` at the sign-in: after a new password it signs nobody in. */
  readonly version?: number;
}

/** How long a session lives, in milliseconds. */
export interface Lifetimes {
  readonly idleMs: number;
  readonly absoluteMs: number;
}

/** What was stored, or `null` for what is no record. */
export function parseRecord(text: string | null): SessionRecord | null {
  if (text === null) return null;
  try {
    const value = JSON.parse(text) as Partial<Record<keyof SessionRecord, unknown>> | null;
    const fits = Object.entries(KINDS).every(([key, kind]) => typeof value?.[key as keyof SessionRecord] === kind);
    const isVersioned = value?.version === undefined || typeof value.version === "number";
    return fits && isVersioned ? (value as SessionRecord) : null;
  } catch {
    return null;
  }
}

const KINDS: Readonly<Record<Exclude<keyof SessionRecord, "version">, string>> = {
  user: "string",
  issuedAt: "number",
  seenAt: "number",
  device: "string",
  address: "string",
  isRemembered: "boolean",
  lifetimeMs: "number",
  isPending: "boolean",
};

/** When it ends without another request. Of the lifetime it started with and the present one, the shorter holds. */
export function expiresAt({ issuedAt, seenAt, lifetimeMs }: SessionRecord, { idleMs, absoluteMs }: Lifetimes): number {
  return Math.min(seenAt + idleMs, issuedAt + Math.min(lifetimeMs, absoluteMs));
}

/** What a clock may be behind that of another process. Beyond it, it was set back. */
const SKEW_MS = 60_000;
/** A session's last use is written at most this often. */
const SEEN_EVERY_MS = 60_000;

/** The record after a use now; the same one when there is nothing to write. */
export function afterUse(record: SessionRecord, now: number, { idleMs }: Lifetimes): SessionRecord {
  const unseenMs = now - record.seenAt;
  // The clock was set back. The session keeps its age: its beginning moves along, or it would live longer.
  if (unseenMs < -SKEW_MS) return { ...record, issuedAt: record.issuedAt + unseenMs, seenAt: now };
  return unseenMs >= Math.min(SEEN_EVERY_MS, idleMs / 4) ? { ...record, seenAt: now } : record;
}
