import { randomBytes } from "node:crypto";
import type { Clock } from "../../core/clock.ts";
import type { MaybePromise } from "../../core/maybe-promise.ts";
import { currentContext } from "../../http/context/current-context.ts";
import { HttpException, ServiceUnavailable } from "../../http/context/http-exception.ts";
import type { KeyValueStore } from "../../stores/key-value-store.ts";
import { storeTime } from "../../stores/store-time.ts";
import { digestOf, type RefreshToken, type RefreshTokenKeys } from "./refresh-token.ts";

/** Whom a family of refresh tokens was made for: who signed in. */
export interface RefreshOwner {
  readonly identity: string;
  /** The session that it belongs to. */
  readonly sid?: string;
  /** The user's `credentialVersion` at the sign-in. */
  readonly version?: number;
}

export interface RefreshFamiliesOptions {
  readonly store: KeyValueStore;
  readonly keys: RefreshTokenKeys;
  readonly clock: Clock;
  /** A family that is not used for so long is over. */
  readonly idleMs: number;
  /** A family is over after so long, however much it is used. */
  readonly lifetimeMs: number;
  /** Whether a spent token kills its family at once. */
  readonly strict: boolean;
  readonly onReuse: (owner: RefreshOwner) => MaybePromise<void>;
}

/** How a rotation went: the successor, or nothing. Why it is nothing is for nobody but the log. */
export type Rotation<T> =
  | { readonly success: true; readonly token: string; readonly owner: RefreshOwner; readonly admitted: T }
  | { readonly success: false; readonly reason: "unknown" | "over" | "reused" | "not admitted" };

/** What the store keeps of a family, under the hash of its id. One entry, so that each change is one write. */
interface Family extends RefreshOwner {
  /** What `revokeAll` has said last for this identity when the family began. */
  readonly epoch: string | null;
  readonly endsAt: number;
  readonly idleUntil: number;
  /** The number of the newest token. */
  readonly generation: number;
  /** Its hash. */
  readonly newest: string;
  /** The ones before it, the last at the end: its hash, and when it was spent. Those that can still be answered. */
  readonly spent: readonly (readonly [hash: string, at: number])[];
  /** The generation of the last token that was answered after the grace. */
  readonly late?: number;
}

/** For so long a spent token is answered even when its successor has been used; a late repetition begins it anew, once. */
const GRACE_MS = 10_000;
/** Spent tokens remembered: more rotations within the grace are turned away. */
const MOST_SPENT = 64;
/** Each try that fails is a change that another call has made. */
const MOST_TRIES = 100;

/**
 * Families of refresh tokens: each use of the newest token makes a successor, and the family forgets nothing in between,
 * because a step is one compare-and-set.
 *
 * A spent token gets the same successor for ten seconds, so parallel calls sign no one out. After that it gets the successor once
 * more, unless the successor was used: the client may have lost the response. Any other repetition means that there are two copies,
 * and ends the family. So does a late repetition of the successor itself: a client that lost a response has received the
 * successor now, while a thief and its victim, taking turns, are late with every token.
 */
export class RefreshFamilies {
  readonly #options: RefreshFamiliesOptions;

  constructor(options: RefreshFamiliesOptions) {
    this.#options = options;
  }

  /** Begins a family and gives its first token. */
  async begin(owner: RefreshOwner): Promise<string> {
    const { store, keys, idleMs, lifetimeMs, clock } = this.#options;
    const token = keys.first();
    const now = await storeTime(store, clock);
    const family: Family = {
      ...owner,
      epoch: await store.get(epochKey(owner.identity)),
      endsAt: now + lifetimeMs,
      idleUntil: now + Math.min(idleMs, lifetimeMs),
      generation: 0,
      newest: digestOf(token.secret),
      spent: [],
    };
    await store.set(familyKey(token), JSON.stringify(family), Math.min(idleMs, lifetimeMs));
    return keys.write(token);
  }

  /**
   * Gives the successor of a token. `admit` is asked before anything is written; `null` refuses, and nothing changes.
   * Rejects when the store does, and with 429 when a family turns faster than any client does.
   */
  async rotate<T>(text: unknown, admit: (owner: RefreshOwner) => Promise<T | null>): Promise<Rotation<T>> {
    const { store, keys, clock } = this.#options;
    const token = keys.read(text);
    if (token === null) return { success: false, reason: "unknown" };
    let admitted: T | null = null;
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const stored = await store.get(familyKey(token));
      if (stored === null) return { success: false, reason: "over" };
      const family = JSON.parse(stored) as Family;
      const now = await storeTime(store, clock);
      if (now >= family.idleUntil || (await store.get(epochKey(family.identity))) !== family.epoch)
        return { success: false, reason: "over" };
      const place = this.#placeOf(token, family, now);
      if (place === "unknown") return { success: false, reason: "unknown" };
      if (place === "reused") return this.#kill(token, family);

      const owner = ownerOf(family);
      admitted ??= await admit(owner);
      if (admitted === null) return { success: false, reason: "not admitted" };
      const successor = this.#successorOf(token, family);
      if (successor === null) return { success: false, reason: "unknown" };
      const isDone =
        place === "spent" ||
        (await (place === "late"
          ? this.#write(token, stored, answeredLate(token, family, now), now)
          : this.#advance(stored, token, successor, family, now)));
      if (isDone) return { success: true, token: keys.write(successor), owner, admitted };
    }
    throw new ServiceUnavailable("The refresh token is in use", { retryAfterSeconds: 1 });
  }

  /** Ends the family of a token, whichever of its tokens it is, and gives whom it was made for. */
  async revoke(text: unknown): Promise<RefreshOwner | null> {
    const { store, keys } = this.#options;
    const token = keys.read(text);
    const stored = token === null ? null : await store.get(familyKey(token));
    if (token === null || stored === null) return null;
    return (await store.delete(familyKey(token))) ? ownerOf(JSON.parse(stored) as Family) : null;
  }

  /** Ends every family of this identity, in one write. */
  async revokeAll(identity: string): Promise<void> {
    await this.#options.store.set(epochKey(identity), randomBytes(12).toString("base64url"));
  }

  /** Where the token stands: the newest, one that is spent and can be answered, the same after the grace, or one that only a copy explains. */
  #placeOf(token: RefreshToken, family: Family, now: number): "newest" | "spent" | "late" | "reused" | "unknown" {
    const age = family.generation - token.generation;
    const hash = digestOf(token.secret);
    if (age < 0) return "unknown";
    if (age === 0) return hash === family.newest ? "newest" : "unknown";
    if (this.#options.strict) return "reused";
    const entry = family.spent.at(-age);
    if (entry === undefined) return "reused";
    if (entry[0] !== hash) return "unknown";
    if (now - entry[1] < GRACE_MS) return "spent";
    const isFirst = family.late === undefined || family.late < token.generation - 1;
    return age === 1 && isFirst ? "late" : "reused";
  }

  /** Of a spent token the one that was given, also when another key has become the first since. */
  #successorOf(token: RefreshToken, family: Family): RefreshToken | null {
    const successors = this.#options.keys.successors(token);
    const age = family.generation - token.generation;
    if (age === 0) return successors[0] ?? null;
    const given = age === 1 ? family.newest : family.spent.at(1 - age)?.[0];
    return successors.find(({ secret }) => digestOf(secret) === given) ?? null;
  }

  async #advance(
    stored: string,
    token: RefreshToken,
    successor: RefreshToken,
    family: Family,
    now: number,
  ): Promise<boolean> {
    // Also after a clock that went back: else nothing would ever be old enough to leave.
    const first = family.spent.findIndex(([, at]) => Math.abs(now - at) < GRACE_MS);
    const recent = first === -1 ? [] : family.spent.slice(first);
    if (recent.length >= MOST_SPENT)
      throw new HttpException(429, "The refresh token is used too often", { headers: { "retry-after": "10" } });
    const idleUntil = Math.min(now + this.#options.idleMs, family.endsAt);
    const next: Family = {
      ...family,
      idleUntil,
      generation: successor.generation,
      newest: digestOf(successor.secret),
      spent: [...recent, [family.newest, now]],
    };
    return this.#write(token, stored, next, now);
  }

  #write(token: RefreshToken, stored: string, next: Family, now: number): Promise<boolean> {
    const ttlMs = Math.max(1, Math.ceil(next.idleUntil - now));
    return this.#options.store.compareAndSet(familyKey(token), stored, JSON.stringify(next), ttlMs);
  }

  async #kill(token: RefreshToken, family: Family): Promise<Rotation<never>> {
    const { store, onReuse } = this.#options;
    if (await store.delete(familyKey(token))) {
      // The family is dead, whatever becomes of the news.
      Promise.resolve(ownerOf(family))
        .then(onReuse)
        .catch((err: unknown) =>
          currentContext()?.log.error({ err }, "the reuse of a refresh token could not be told"),
        );
    }
    return { success: false, reason: "reused" };
  }
}

/** Its grace begins anew: several tabs may have lost the same response. */
function answeredLate({ generation }: RefreshToken, family: Family, now: number): Family {
  const [hash] = family.spent.at(-1) as Family["spent"][number];
  return { ...family, spent: [...family.spent.slice(0, -1), [hash, now]], late: generation };
}

function ownerOf({ identity, sid, version }: Family): RefreshOwner {
  return { identity, ...(sid === undefined ? {} : { sid }), ...(version === undefined ? {} : { version }) };
}

function familyKey({ family }: RefreshToken): string {
  return `refresh:${digestOf(family)}`;
}

function epochKey(identity: string): string {
  return `refresh-epoch:${digestOf(Buffer.from(identity))}`;
}
