import { randomBytes, randomInt } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Clock } from "../../core/clock.ts";
import { outsideRequest } from "../../core/outside-request.ts";
import { inBackground } from "../../core/work/in-background.ts";
import { ServiceUnavailable } from "../../kernel/exceptions/http-exception.ts";
import type { KeyValueStore } from "../../stores/key-value-store.ts";
import { discard, revoke } from "../../stores/revoke.ts";
import { storeTime } from "../../stores/store-time.ts";
import { sha256 } from "../records/sha256.ts";
import {
  type Acting,
  afterUse,
  expiresAt,
  type Lifetimes,
  parseSessionRecord,
  type SessionRecord,
} from "./session-record.ts";

/** The lifetimes of sessions and the maximum number per user. */
export interface SessionLimits {
  readonly plain: Lifetimes;
  readonly remembered: Lifetimes;
  readonly maxPerUser: number;
}

/**
 * A live session. Its handle is the SHA-256 hash of its id: it identifies the session but cannot be used to sign in.
 */
export interface StoredSession {
  readonly handle: string;
  readonly record: SessionRecord;
  readonly expiresAt: number;
}

/** The values of a new session. */
export type NewSession = Pick<
  SessionRecord,
  "user" | "device" | "address" | "isRemembered" | "version" | "level" | "origin"
>;

/** A live session with its record as it was read. */
interface Presented {
  readonly session: StoredSession;
  readonly text: string | null;
}

const HANDLE = /^[\w-]{43}$/;
/** How long an unfinished session is kept while it starts. */
const PENDING_MS = 60_000;
/** How long the list of a user's sessions is kept after the last of them ends. */
const SLACK_MS = 86_400_000;
const MAX_STARTS = 3;
const MAX_CHANGES = 200;

/**
 * The sessions in a key-value store: one record per session, under the SHA-256 hash of its id, and a list of handles
 * per user.
 *
 * A record is written before its handle is listed and deleted before it is unlisted, and a deleted record is never
 * written again. So despite interruptions and concurrent changes, a live session is always in its user's list, a handle
 * without a record stays dead, and an ended session stays ended.
 */
export class SessionStore {
  readonly #store: KeyValueStore;
  readonly #clock: Clock;
  readonly #limits: SessionLimits;
  /** The handles of sessions whose use is being recorded. */
  readonly #recording = new Set<string>();

  constructor(store: KeyValueStore, clock: Clock, limits: SessionLimits) {
    this.#store = store;
    this.#clock = clock;
    this.#limits = limits;
  }

  /**
   * Starts a session and returns it with the id for its cookie.
   *
   * @param endsAt when it ends at the latest, if that is before its absolute lifetime
   */
  async start(
    draft: NewSession,
    endsAt: number = Number.POSITIVE_INFINITY,
  ): Promise<StoredSession & { readonly id: string }> {
    for (let attempt = 0; attempt < MAX_STARTS; attempt++) {
      const id = randomBytes(32).toString("base64url");
      const handle = handleOf(id);
      const now = await storeTime(this.#store, this.#clock);
      const lifetimeMs = Math.max(1, Math.min(this.#lifetimes(draft).absoluteMs, endsAt - now));
      const record = { ...draft, issuedAt: now, seenAt: now, lifetimeMs, isPending: false };
      const pending = JSON.stringify({ ...record, isPending: true });
      await this.#store.set(recordKey(handle), pending, PENDING_MS);
      await this.#change(draft.user, (handles) => this.#enlist(handles, handle));
      // `false` if all sessions of the user were ended in the meantime, including this one. It then starts again.
      if (await this.#replace(handle, pending, record)) return { ...this.#session(handle, record), id };
    }
    throw new ServiceUnavailable("The session could not be started. Try again.");
  }

  /** Returns the live session with this id. Its use is recorded later, so that a request waits for one read only. */
  async use(id: string): Promise<StoredSession | null> {
    const handle = handleOf(id);
    const found = await this.#presented(handle);
    if (found === null || !this.#isUseDue(found.session) || this.#recording.has(handle)) return found?.session ?? null;
    this.#recording.add(handle);
    inBackground(outsideRequest(() => this.#recordUse(found)).finally(() => this.#recording.delete(handle)));
    return found.session;
  }

  /** Returns the live session with this handle and records its use. */
  async touch(handle: string): Promise<StoredSession | null> {
    const found = await this.#presented(handle);
    if (found === null) return null;
    return this.#isUseDue(found.session) ? this.#recordUse(found) : found.session;
  }

  /** Returns the live session with this handle without recording a use. */
  async find(handle: string): Promise<StoredSession | null> {
    return HANDLE.test(handle) ? this.#read(handle, await this.#store.get(recordKey(handle))) : null;
  }

  /** Lists the user's live sessions, newest first. */
  async list(user: string): Promise<readonly StoredSession[]> {
    const handles = await this.handles(user);
    const found = await Promise.all(handles.map((handle) => this.find(handle)));
    return found.filter((session) => session !== null && session.record.user === user).reverse() as StoredSession[];
  }

  /** Returns the handles of all the user's sessions, oldest first. Some may have ended. */
  async handles(user: string): Promise<readonly string[]> {
    return parseHandles(await this.#store.get(listKey(user)));
  }

  /** Ends sessions of the user and returns how many of them existed. */
  async end(user: string, handles: readonly string[]): Promise<number> {
    if (handles.length === 0) return 0;
    const ended = await Promise.all(handles.map((handle) => this.#revoke(handle)));
    await this.#change(user, async (listed) => listed.filter((handle) => !handles.includes(handle)));
    return ended.filter(Boolean).length;
  }

  #revoke(handle: string): Promise<boolean> {
    return revoke(this.#store, recordKey(handle), () => this.#store.delete(recordKey(handle)));
  }

  /** Makes a session as old as if it had not been used since before its lifetime, and keeps its record for a while. */
  async expire(handle: string): Promise<void> {
    const text = await this.#store.get(recordKey(handle));
    const record = parseSessionRecord(text);
    if (record === null) return;
    const agedMs = this.#lifetimes(record).absoluteMs + SLACK_MS;
    const old = { ...record, issuedAt: record.issuedAt - agedMs, seenAt: record.seenAt - agedMs };
    await this.#store.compareAndSet(recordKey(handle), text, JSON.stringify(old), SLACK_MS);
  }

  /**
   * Lets the session act as another user, or with `null` as its own user again. Returns its record as it was before, or
   * `null` if it has ended or already is as required.
   */
  async act(handle: string, acting: Acting | null): Promise<SessionRecord | null> {
    for (let attempt = 0; attempt < MAX_CHANGES; attempt++) {
      const found = await this.#presented(handle);
      if (found === null) return null;
      const { acting: before, ...own } = found.session.record;
      if ((before === undefined) === (acting === null)) return null;
      // `false` if another request has recorded a use or ended the session.
      if (await this.#replace(handle, found.text, acting === null ? own : { ...own, acting }))
        return found.session.record;
    }
    throw new ServiceUnavailable("Too many concurrent changes to this session. Try again.");
  }

  /** Returns the owner of the session with this id, even if it has expired, or `null` if there is none. */
  async ownerOf(id: string): Promise<{ readonly user: string; readonly handle: string } | null> {
    const handle = handleOf(id);
    const record = parseSessionRecord(await this.#store.get(recordKey(handle)));
    return record === null ? null : { user: record.user, handle };
  }

  /** Returns when the session ends at the latest, however often it is used. */
  lastsUntil({ record }: StoredSession): number {
    return record.issuedAt + Math.min(record.lifetimeMs, this.#lifetimes(record).absoluteMs);
  }

  /** Returns the live session with this handle and its stored text. */
  async #presented(handle: string): Promise<Presented | null> {
    const text = await this.#store.get(recordKey(handle));
    const session = await this.#read(handle, text);
    if (session !== null) return { session, text };
    // Deleted, so that an expired session stays expired even if the clock is set back.
    if (parseSessionRecord(text)?.isPending === false) await discard(this.#store, recordKey(handle));
    return null;
  }

  #isUseDue({ record }: StoredSession): boolean {
    return afterUse(record, this.#clock.now(), this.#lifetimes(record)) !== record;
  }

  /** Never rejects: the session is still valid if the store is full or read-only and its use cannot be recorded. */
  async #recordUse({ session, text }: Presented): Promise<StoredSession> {
    const { handle, record } = session;
    try {
      const used = afterUse(record, await storeTime(this.#store, this.#clock), this.#lifetimes(record));
      if (used === record) return session;
      // `false` if another request has updated or ended the session. Neither must be overwritten.
      await this.#replace(handle, text, used);
      return this.#session(handle, used);
    } catch {
      return session;
    }
  }

  async #enlist(handles: readonly string[], handle: string): Promise<readonly string[]> {
    const { maxPerUser } = this.#limits;
    if (handles.length < maxPerUser) return [...handles, handle];
    const records = await Promise.all(handles.map((entry) => this.#store.get(recordKey(entry))));
    const alive = handles.filter((_, index) => records[index] !== null);
    const surplus = alive.slice(0, Math.max(0, alive.length + 1 - maxPerUser));
    await Promise.all(surplus.map((oldest) => discard(this.#store, recordKey(oldest))));
    return [...alive.slice(surplus.length), handle];
  }

  /** Edits the list of a user's sessions, and retries if another process has changed it in the meantime. */
  async #change(user: string, edit: (handles: readonly string[]) => Promise<readonly string[]>): Promise<void> {
    const key = listKey(user);
    for (let attempt = 0; attempt < MAX_CHANGES; attempt++) {
      if (attempt > 3) await sleep(randomInt(Math.min(attempt, 50)));
      const text = await this.#store.get(key);
      const handles = parseHandles(text);
      const edited = await edit(handles);
      if (edited.length === handles.length && edited.every((handle, index) => handle === handles[index])) return;
      // An empty list equals a missing one, so it expires at once.
      const ttlMs = edited.length === 0 ? 1 : this.#longestMs + SLACK_MS;
      if (await this.#store.compareAndSet(key, text, JSON.stringify(edited), ttlMs)) return;
    }
    throw new ServiceUnavailable("Too many concurrent changes to these sessions. Try again.");
  }

  #replace(handle: string, before: string | null, record: SessionRecord): Promise<boolean> {
    const ttlMs = Math.max(1, Math.ceil(this.#session(handle, record).expiresAt - record.seenAt));
    return this.#store.compareAndSet(recordKey(handle), before, JSON.stringify(record), ttlMs);
  }

  async #read(handle: string, text: string | null): Promise<StoredSession | null> {
    const record = parseSessionRecord(text);
    if (record === null || record.isPending) return null;
    const session = this.#session(handle, record);
    if (this.#clock.now() < session.expiresAt) return session;
    // The clock of this process may be wrong, and a session that it ends is ended for all processes.
    return (await storeTime(this.#store, this.#clock)) < session.expiresAt ? session : null;
  }

  #session(handle: string, record: SessionRecord): StoredSession {
    return { handle, record, expiresAt: expiresAt(record, this.#lifetimes(record)) };
  }

  #lifetimes({ isRemembered }: Pick<SessionRecord, "isRemembered">): Lifetimes {
    return isRemembered ? this.#limits.remembered : this.#limits.plain;
  }

  get #longestMs(): number {
    return Math.max(this.#limits.plain.absoluteMs, this.#limits.remembered.absoluteMs);
  }
}

function handleOf(id: string): string {
  return sha256(Buffer.from(id, "base64url"));
}

function recordKey(handle: string): string {
  return `session:${handle}`;
}

/** Hashes the identity, because not every text is a valid store key. */
function listKey(user: string): string {
  return `sessions-of:${sha256(JSON.stringify(user))}`;
}

function parseHandles(text: string | null): readonly string[] {
  try {
    const value: unknown = JSON.parse(text ?? "[]");
    return Array.isArray(value) ? value.filter((entry) => typeof entry === "string" && HANDLE.test(entry)) : [];
  } catch {
    return [];
  }
}
