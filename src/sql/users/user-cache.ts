import { isInstance } from "../../core/describe-error.ts";
import { outsideRequest } from "../../core/outside-request.ts";
import { inBackground } from "../../core/work/in-background.ts";
import { revoked } from "../../kernel/identity/credential.ts";
import { loadedSince } from "../../kernel/identity/loaded-since.ts";
import { userChanged } from "../../kernel/identity/user-changed.ts";
import { type PubSub, PubSubGap, type Topic, topic } from "../../stores/pub-sub.ts";
import type { StoredUser } from "./user-record.ts";

export interface UserCacheOptions {
  readonly seconds: number;
  /** The bus on which other processes publish changes. Without it, their changes are seen when an entry expires. */
  readonly bus: PubSub | undefined;
  /** Ends the subscriptions to the bus. */
  readonly closing: AbortSignal | undefined;
}

interface Entry {
  readonly user: StoredUser;
  /** When it began to be loaded. */
  readonly loadedAt: number;
  readonly goodUntil: number;
}

/** A user that is being loaded. */
interface Loading {
  readonly loadedAt: number;
  readonly epoch: number;
  readonly user: Promise<StoredUser | null>;
}

const MAX_ENTRIES = 10_000;

type Change = Topic<{ readonly user: string | null }>;
const TOPICS: readonly Change[] = [topic(revoked.name), userChanged];

/**
 * Caches users for a few seconds in this process, or until a change is published. While changes are not received, every
 * user is loaded.
 */
export class UserCache {
  readonly #options: UserCacheOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #loading = new Map<string, Loading>();
  /** Raised by each change, so that a value read before the change is not cached after it. */
  #epoch = 0;
  /** The topics with an active subscription. */
  readonly #heard = new Set<string>();
  #hasStarted = false;

  constructor(options: UserCacheOptions) {
    this.#options = options;
  }

  async get(identity: string, load: () => Promise<StoredUser | null>): Promise<StoredUser | null> {
    const { seconds } = this.#options;
    if (seconds === 0) return load();
    this.#start();
    if (!this.#isInformed) return load();
    const since = loadedSince();
    const known = this.#entries.get(identity);
    if (known !== undefined && known.loadedAt >= since && known.goodUntil > performance.now()) return known.user;
    const loading = this.#loading.get(identity);
    if (loading !== undefined && loading.loadedAt >= since && loading.epoch === this.#epoch) return loading.user;
    return this.#load(identity, load);
  }

  /** Loads the user once for all callers that ask meanwhile: the connections of one user are rechecked together. */
  async #load(identity: string, load: () => Promise<StoredUser | null>): Promise<StoredUser | null> {
    const loading: Loading = { loadedAt: performance.now(), epoch: this.#epoch, user: load() };
    this.#loading.set(identity, loading);
    try {
      const user = await loading.user;
      if (user !== null && loading.epoch === this.#epoch && this.#isInformed)
        this.#keep(identity, user, loading.loadedAt);
      return user;
    } finally {
      if (this.#loading.get(identity) === loading) this.#loading.delete(identity);
    }
  }

  #keep(identity: string, user: StoredUser, loadedAt: number): void {
    this.#entries.delete(identity);
    this.#entries.set(identity, { user, loadedAt, goodUntil: performance.now() + this.#options.seconds * 1000 });
    const [oldest] = this.#entries.keys();
    if (this.#entries.size > MAX_ENTRIES && oldest !== undefined) this.#entries.delete(oldest);
  }

  /** @param identity the user whose entry is removed; `null` removes all entries */
  forget(identity: string | null): void {
    this.#epoch++;
    if (identity === null) this.#entries.clear();
    else this.#entries.delete(identity);
  }

  /** Whether changes are received. A lost connection ends the subscriptions only when there is a new one. */
  get #isInformed(): boolean {
    const { bus } = this.#options;
    return bus === undefined || (bus.isConnected !== false && this.#heard.size === TOPICS.length);
  }

  #start(): void {
    const { bus } = this.#options;
    if (this.#hasStarted || bus === undefined) return;
    this.#hasStarted = true;
    for (const topic of TOPICS) inBackground(outsideRequest(() => this.#follow(bus, topic)));
  }

  async #follow(bus: PubSub, topic: Change): Promise<void> {
    const signal = this.#options.closing ?? new AbortController().signal;
    for (let isOver = false; !isOver && !signal.aborted; ) {
      let isOpen = true;
      const iterator = bus.subscribe(topic, { signal })[Symbol.asyncIterator]();
      inBackground(
        bus.settled().then(() => {
          if (isOpen) this.#heard.add(topic.name);
        }),
      );
      isOver = await this.#read(iterator);
      isOpen = false;
      this.#heard.delete(topic.name);
      this.forget(null);
    }
  }

  /**
   * Processes changes until the subscription ends. Returns `false` after a gap, when another subscription can be made.
   */
  async #read(iterator: AsyncIterator<{ readonly user: string | null }, void, void>): Promise<boolean> {
    try {
      for (let next = await iterator.next(); next.done !== true; next = await iterator.next())
        this.forget(next.value.user);
      return true;
    } catch (error) {
      return !isInstance(error, PubSubGap);
    }
  }
}
