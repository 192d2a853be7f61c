import type { Clock } from "../../core/clock.ts";
import type { KeyValueStore } from "../../stores/key-value-store.ts";
import { changeRecord, parseRecord } from "../records/change-record.ts";
import { sha256 } from "../records/sha256.ts";
import type { LogoutNotice, ProviderAccount } from "./identity-provider.ts";

/** A session that was started with an account of a provider. */
export interface ProviderSession {
  readonly user: string;
  /** The handle of the session. */
  readonly handle: string;
  /** The session at the provider. */
  readonly sid: string | null;
  /** When the session ends at the latest, in milliseconds since 1970. */
  readonly until: number;
}

interface SessionList {
  readonly sessions: readonly ProviderSession[];
}

/** The most sessions of one account that a logout ends. `SessionMiddleware` keeps 50 per user by default. */
const MAX_SESSIONS = 200;

/** Records which sessions were started with which account, so that the provider can end them. */
export class ProviderSessions {
  readonly #store: KeyValueStore;
  readonly #clock: Clock;

  constructor(store: KeyValueStore, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Records a session. It is recorded before a logout can name it, because the person has not seen the response yet. */
  async add(
    { issuer, subject, sid }: Pick<ProviderAccount, "issuer" | "subject" | "sid">,
    session: Omit<ProviderSession, "sid">,
  ): Promise<void> {
    const entry: ProviderSession = { ...session, sid: sid ?? null };
    if (sid !== undefined)
      await this.#store.set(sidKey(issuer, sid), JSON.stringify({ subject }), this.#leftMs(entry.until));
    await changeRecord<SessionList>(
      this.#store,
      listKey(issuer, subject),
      (list) => ({ sessions: [...this.#live(list), entry].slice(-MAX_SESSIONS) }),
      ({ sessions }) => this.#leftMs(Math.max(...sessions.map(({ until }) => until))),
    );
  }

  /** Returns the sessions that a logout names: those of a session at the provider, or all of the account. */
  async named({ issuer, subject, sid }: LogoutNotice): Promise<readonly ProviderSession[]> {
    const owner = subject ?? (await this.#subjectOf(issuer, sid ?? ""));
    if (owner === null) return [];
    const list = parseRecord<SessionList>(await this.#store.get(listKey(issuer, owner)));
    return this.#live(list).filter((session) => sid === undefined || session.sid === sid);
  }

  async #subjectOf(issuer: string, sid: string): Promise<string | null> {
    const found = parseRecord<{ readonly subject: string }>(await this.#store.get(sidKey(issuer, sid)));
    return found?.subject ?? null;
  }

  #live(list: SessionList | null): readonly ProviderSession[] {
    return (list?.sessions ?? []).filter(({ until }) => until > this.#clock.now());
  }

  #leftMs(until: number): number {
    return Math.max(1, Math.ceil(until - this.#clock.now()));
  }
}

function listKey(issuer: string, subject: string): string {
  return `provider-sessions:${hashOf(issuer, subject)}`;
}

function sidKey(issuer: string, sid: string): string {
  return `provider-sid:${hashOf(issuer, sid)}`;
}

function hashOf(...parts: readonly string[]): string {
  return sha256(JSON.stringify(parts));
}
