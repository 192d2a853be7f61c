import { createHash, randomBytes, randomInt } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Clock } from "../../core/clock.ts";
import { ServiceUnavailable } from "../../http/context/http-exception.ts";
import type { KeyValueStore } from "../../stores/key-value-store.ts";
import { storeTime } from "../../stores/store-time.ts";
import { afterUse, expiresAt, type Lifetimes, parseRecord, type SessionRecord } from "./session-record.ts";

/** How long sessions live, and how many a user may have. */
export interface SessionLimits {
  readonly plain: Lifetimes;
  readonly remembered: Lifetimes;
  readonly maxPerUser: number;
}

/** A live session. Its handle is the SHA-256 of its id: it names the session, and signs nobody in. */
export interface StoredSession {
  readonly handle: string;
  readonly record: SessionRecord;
  readonly expiresAt: number;
}

/** What a session starts with. */
export type NewSession = Pick<SessionRecord, "user" | "device" | "address" | "isRemembered" | "version">;

const HANDLE = /^[\w-]{43}$/;
/** How long a start may take before its half-written session is gone. */
const PENDING_MS = 60_000;
/** What the list of a user's sessions outlives the last of them by. */
const SLACK_MS = 86_400_000;
const MOST_STARTS = 3;
const MOST_CHANGES = 200;

/**
 * The sessions in a key-value store: a record for each, under the SHA-256 of its id, and a list of handles for each user.
 *
 * A record is written before its handle is listed, and deleted before it is unlisted; nothing ever writes a record that is
 * gone. So whatever is interrupted and whatever runs at the same time, a live session is in its user's list, a handle without
 * a record is dead for good, and what was ended stays ended.
 */
export class SessionStore {
  readonly #store: KeyValueStore;
  readonly #clock: Clock;
  readonly #limits: SessionLimits;

  constructor(store: KeyValueStore, clock: Clock, limits: SessionLimits) {
    this.#store = store;
    this.#clock = clock;
    this.#limits = limits;
  }

  /** A new session, and the id that its cookie carries. */
  async start(draft: NewSession): Promise<StoredSession & { readonly id: string }> {
    for (let attempt = 0; attempt < MOST_STARTS; attempt++) {
      const id = randomBytes(32).toString("base64url");
      const handle = handleOf(id);
      const now = await storeTime(this.#store, this.#clock);
      const { absoluteMs } = this.#lifetimes(draft);
      const record = { ...draft, issuedAt: now, seenAt: now, lifetimeMs: absoluteMs, isPending: false };
      const pending = JSON.stringify({ ...record, isPending: true });
      await this.#store.set(recordKey(handle), pending, PENDING_MS);
      await this.#change(draft.user, (handles) => this.#enlist(handles, handle));
      // False when all of the user's sessions were ended meanwhile, this one with them: it starts after that instead.
      if (await this.#replace(handle, pending, record)) return { ...this.#session(handle, record), id };
    }
    throw new ServiceUnavailable("The session could not be started");
  }

  /** The live session with this id, its use noted. */
  use(id: string): Promise<StoredSession | null> {
    return this.touch(handleOf(id));
  }

  /** The live session by this handle, its use noted. */
  async touch(handle: string): Promise<StoredSession | null> {
    const text = await this.#store.get(recordKey(handle));
    const session = await this.#read(handle, text);
    if (session === null) {
      // What is over stays over, also when the clock is set back.
      if (parseRecord(text)?.isPending === false) await this.#store.delete(recordKey(handle));
      return null;
    }
    const { record } = session;
    const lifetimes = this.#lifetimes(record);
    if (afterUse(record, this.#clock.now(), lifetimes) === record) return session;
    try {
      const used = afterUse(record, await storeTime(this.#store, this.#clock), lifetimes);
      if (used === record) return session;
      // False when another request was faster, or has ended it: neither is to be overwritten.
      await this.#replace(handle, text, used);
      return this.#session(handle, used);
    } catch {
      // A store that is full or read-only keeps what it has: the session is as good as it was a minute ago.
      return session;
    }
  }

  /** The live session by this handle, its use not noted. */
  async find(handle: string): Promise<StoredSession | null> {
    return HANDLE.test(handle) ? this.#read(handle, await this.#store.get(recordKey(handle))) : null;
  }

  /** The user's live sessions, the newest first. */
  async list(user: string): Promise<readonly StoredSession[]> {
    const handles = await this.handles(user);
    const found = await Promise.all(handles.map((handle) => this.find(handle)));
    return found.filter((session) => session !== null && session.record.user === user).reverse() as StoredSession[];
  }

  /** The handles of all of the user's sessions, the oldest first; some may be dead. */
  async handles(user: string): Promise<readonly string[]> {
    return parseHandles(await this.#store.get(listKey(user)));
  }

  /** Ends sessions of the user, and says how many of them were there. */
  async end(user: string, handles: readonly string[]): Promise<number> {
    if (handles.length === 0) return 0;
    const ended = await Promise.all(handles.map((handle) => this.#store.delete(recordKey(handle))));
    await this.#change(user, async (listed) => listed.filter((handle) => !handles.includes(handle)));
    return ended.filter(Boolean).length;
  }

  /** Whose session has this id, alive or not; `null` when there is none. */
  async ownerOf(id: string): Promise<{ readonly user: string; readonly handle: string } | null> {
    const handle = handleOf(id);
    const record = parseRecord(await this.#store.get(recordKey(handle)));
    return record === null ? null : { user: record.user, handle };
  }

  /** When it ends however often it is used. */
  lastsUntil({ record }: StoredSession): number {
    return record.issuedAt + Math.min(record.lifetimeMs, this.#lifetimes(record).absoluteMs);
  }

  async #enlist(handles: readonly string[], handle: string): Promise<readonly string[]> {
    const { maxPerUser } = this.#limits;
    if (handles.length < maxPerUser) return [...handles, handle];
    const records = await Promise.all(handles.map((entry) => this.#store.get(recordKey(entry))));
    const alive = handles.filter((_, index) => records[index] !== null);
    const surplus = alive.slice(0, Math.max(0, alive.length + 1 - maxPerUser));
    await Promise.all(surplus.map((oldest) => this.#store.delete(recordKey(oldest))));
    return [...alive.slice(surplus.length), handle];
  }

  /** Edits the list of a user's sessions; done again on top of what another has made of it meanwhile. */
  async #change(user: string, edit: (handles: readonly string[]) => Promise<readonly string[]>): Promise<void> {
    const key = listKey(user);
    for (let attempt = 0; attempt < MOST_CHANGES; attempt++) {
      if (attempt > 3) await sleep(randomInt(Math.min(attempt, 50)));
      const text = await this.#store.get(key);
      const handles = parseHandles(text);
      const edited = await edit(handles);
      if (edited.length === handles.length && edited.every((handle, index) => handle === handles[index])) return;
      // An empty list is as good as none.
      const ttlMs = edited.length === 0 ? 1 : this.#longestMs + SLACK_MS;
      if (await this.#store.compareAndSet(key, text, JSON.stringify(edited), ttlMs)) return;
    }
    throw new ServiceUnavailable("The list of sessions is changed by too many at once");
  }

  #replace(handle: string, before: string | null, record: SessionRecord): Promise<boolean> {
    const ttlMs = Math.max(1, Math.ceil(this.#session(handle, record).expiresAt - record.seenAt));
    return this.#store.compareAndSet(recordKey(handle), before, JSON.stringify(record), ttlMs);
  }

  async #read(handle: string, text: string | null): Promise<StoredSession | null> {
    const record = parseRecord(text);
    if (record === null || record.isPending) return null;
    const session = this.#session(handle, record);
    if (this.#clock.now() < session.expiresAt) return session;
    // The clock of this process may be wrong: what it ends here would be over everywhere.
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

/** Hashed: an identity is any text, and a key is not. */
function listKey(user: string): string {
  return `sessions-of:${sha256(JSON.stringify(user))}`;
}

function sha256(value: string | Uint8Array): string {
  return createHash("sha256").update(value).digest("base64url");
}

function parseHandles(text: string | null): readonly string[] {
  try {
    const value: unknown = JSON.parse(text ?? "[]");
    return Array.isArray(value) ? value.filter((entry) => typeof entry === "string" && HANDLE.test(entry)) : [];
  } catch {
    return [];
  }
}
