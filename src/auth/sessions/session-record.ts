import type { AssuranceLevel } from "../../kernel/identity/credential.ts";

/** The stored data of a session. Times are milliseconds since 1970. */
export interface SessionRecord {
  readonly user: string;
  readonly issuedAt: number;
  readonly seenAt: number;
  readonly device: string;
  readonly address: string;
  readonly isRemembered: boolean;
  /** The absolute lifetime at its start, in milliseconds. */
  readonly lifetimeMs: number;
  /** Whether the record is written but not yet in the user's list. A pending session is not valid. */
  readonly isPending: boolean;
  /** The user's `credentialVersion` at the sign-in. A new password changes it and so invalidates the session. */
  readonly version?: number;
  /** How strongly the user signed in. Without it, with one factor. */
  readonly level?: AssuranceLevel;
  /** The handle of the first session that this one continues under a new id. */
  readonly origin?: string;
  /** The user that the owner of the session, an administrator, acts as. */
  readonly acting?: Acting;
}

/** The user that an administrator acts as. */
export interface Acting {
  readonly user: string;
  /** When it ends at the latest. */
  readonly until: number;
  /** The user's `credentialVersion` at the start. */
  readonly version?: number;
}

/** The lifetimes of a session, in milliseconds. */
export interface Lifetimes {
  readonly idleMs: number;
  readonly absoluteMs: number;
}

/** Parses a stored record. Returns `null` if it is not valid. */
export function parseSessionRecord(text: string | null): SessionRecord | null {
  if (text === null) return null;
  try {
    // A `null` throws below, as text that is not JSON does.
    const value = JSON.parse(text) as Partial<Record<keyof SessionRecord, unknown>>;
    const fits = Object.entries(KINDS).every(([key, kind]) => typeof value[key as keyof SessionRecord] === kind);
    const isVersioned = value.version === undefined || typeof value.version === "number";
    const isLevelled = value.level === undefined || value.level === "mfa";
    const isContinued = value.origin === undefined || typeof value.origin === "string";
    const isActing = value.acting === undefined || isActingRecord(value.acting);
    return fits && isVersioned && isLevelled && isContinued && isActing ? (value as SessionRecord) : null;
  } catch {
    return null;
  }
}

function isActingRecord(value: unknown): boolean {
  const { user, until, version } = (value ?? {}) as Partial<Record<keyof Acting, unknown>>;
  return typeof user === "string" && typeof until === "number" && ["number", "undefined"].includes(typeof version);
}

const KINDS: Readonly<Record<Exclude<keyof SessionRecord, "version" | "level" | "origin" | "acting">, string>> = {
  user: "string",
  issuedAt: "number",
  seenAt: "number",
  device: "string",
  address: "string",
  isRemembered: "boolean",
  lifetimeMs: "number",
  isPending: "boolean",
};

/**
 * Returns when the session ends without another request. The shorter of its initial and the current lifetime applies.
 */
export function expiresAt({ issuedAt, seenAt, lifetimeMs }: SessionRecord, { idleMs, absoluteMs }: Lifetimes): number {
  return Math.min(seenAt + idleMs, issuedAt + Math.min(lifetimeMs, absoluteMs));
}

/** How far the clocks of two processes may differ. A larger difference means that a clock was set back. */
const SKEW_MS = 60_000;
/** A session's last use is written at most this often. */
const SEEN_EVERY_MS = 60_000;

/** Returns the record after a use at `now`, or the given record if nothing needs to be written. */
export function afterUse(record: SessionRecord, now: number, { idleMs }: Lifetimes): SessionRecord {
  const unseenMs = now - record.seenAt;
  // The clock was set back. The start moves along, so that the session keeps its age and does not live longer.
  if (unseenMs < -SKEW_MS) return { ...record, issuedAt: record.issuedAt + unseenMs, seenAt: now };
  return unseenMs >= Math.min(SEEN_EVERY_MS, idleMs / 4) ? { ...record, seenAt: now } : record;
}
