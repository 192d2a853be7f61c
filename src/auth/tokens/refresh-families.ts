import { randomBytes } from "node:crypto";
import type { Clock } from "../../core/clock.ts";
import { loggable } from "../../core/describe-error.ts";
import type { MaybePromise } from "../../core/maybe-promise.ts";
import { currentContext } from "../../kernel/context/current-context.ts";
import { HttpException, ServiceUnavailable } from "../../kernel/exceptions/http-exception.ts";
import type { KeyValueStore } from "../../stores/key-value-store.ts";
import { revoke } from "../../stores/revoke.ts";
import { storeTime } from "../../stores/store-time.ts";
import { digestOf, type RefreshToken, type RefreshTokenKeys } from "./refresh-token.ts";

/** The user whose sign-in created a family of refresh tokens. */
export interface RefreshOwner {
  readonly identity: string;
  /** The session that the family belongs to. */
  readonly sid?: string;
  /** The user's `credentialVersion` at the sign-in. */
  readonly version?: number;
}

export interface RefreshFamiliesOptions {
  readonly store: KeyValueStore;
  readonly keys: RefreshTokenKeys;
  readonly clock: Clock;
  /** A family expires if it is not used for this long. */
  readonly idleMs: number;
  /** A family expires after this time even if it is used. */
  readonly lifetimeMs: number;
  /** Whether using a spent token revokes its family immediately. */
  readonly strict: boolean;
  readonly onReuse: (owner: RefreshOwner) => MaybePromise<void>;
}

/** The successor of a token, and its owner. */
interface Rotation {
  readonly token: string;
  readonly owner: RefreshOwner;
}

/** The stored data of a family, under the hash of its id. It is one entry, so that each change is one write. */
interface Family extends RefreshOwner {
  /** The value that `revokeAll` had written for this identity when the family began. */
  readonly epoch: string | null;
  readonly endsAt: number;
  readonly idleUntil: number;
  /** The number of the newest token. */
  readonly generation: number;
  /** The hash of the newest token. */
  readonly newest: string;
  /** The spent tokens that may still be accepted, the last one at the end: the hash and the time it was spent. */
  readonly spent: readonly (readonly [hash: string, at: number])[];
  /** The generation of the last token that was accepted after its grace period. */
  readonly late?: number;
}

/** The grace period of a spent token, even if its successor has been used. A late reuse restarts it once. */
const GRACE_MS = 10_000;
/** The maximum number of rotations within a grace period. */
const MAX_SPENT = 64;
/** A try fails when another call has changed the family. */
const MAX_TRIES = 100;

/**
 * Families of refresh tokens. Each use of the newest token creates a successor with one compare-and-set, so no step is
 * lost.
 *
 * A spent token returns the same successor for ten seconds, so that parallel calls sign no one out. After that it
 * returns the successor once more, unless the successor was used: the client may have lost the response. Any other
 * reuse means that the token was copied, and revokes the family. So does a late reuse of the successor itself: a client
 * that lost a response has the successor by then, while a thief and a victim who take turns are late with every token.
 */
export class RefreshFamilies {
  readonly #options: RefreshFamiliesOptions;

  constructor(options: RefreshFamiliesOptions) {
    this.#options = options;
  }

  /** Begins a family and returns its first token. */
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
   * Returns the successor of a token, or `null` if the token is not valid. `admit` is called before anything is written.
   * If it returns `false`, the token is rejected and stays valid. Rejects when the store fails, and with 429 if a family
   * is rotated too often.
   */
  async rotate(text: unknown, admit: (owner: RefreshOwner) => Promise<boolean>): Promise<Rotation | null> {
    const { store, keys, clock } = this.#options;
    const token = keys.read(text);
    if (token === null) return null;
    let isAdmitted = false;
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const stored = await store.get(familyKey(token));
      if (stored === null) return null;
      const family = JSON.parse(stored) as Family;
      const now = await storeTime(store, clock);
      if (now >= family.idleUntil || (await store.get(epochKey(family.identity))) !== family.epoch) return null;
      const place = this.#placeOf(token, family, now);
      if (place === "unknown") return null;
      if (place === "reused") {
        await this.#kill(token, family);
        return null;
      }
      const owner = ownerOf(family);
      isAdmitted ||= await admit(owner);
      if (!isAdmitted) return null;
      const successor = this.#successorOf(token, family);
      if (successor === null) return null;
      const isDone =
        place === "spent" ||
        (await (place === "late"
          ? this.#write(token, stored, acceptedLate(token, family, now), now)
          : this.#advance(stored, token, successor, family, now)));
      if (isDone) return { token: keys.write(successor), owner };
    }
    throw new ServiceUnavailable("The refresh token is used by too many requests at once. Try again.", {
      retryAfterSeconds: 1,
    });
  }

  /** Revokes the family of any of its tokens and returns its owner. */
  async revoke(text: unknown): Promise<RefreshOwner | null> {
    const { store, keys } = this.#options;
    const token = keys.read(text);
    const stored = token === null ? null : await store.get(familyKey(token));
    if (token === null || stored === null) return null;
    const key = familyKey(token);
    return (await revoke(store, key, () => store.delete(key))) ? ownerOf(JSON.parse(stored) as Family) : null;
  }

  /** Revokes all families of this identity in one write. */
  async revokeAll(identity: string): Promise<void> {
    const { store } = this.#options;
    const key = epochKey(identity);
    await revoke(store, key, () => store.set(key, randomBytes(12).toString("base64url")));
  }

  /** Classifies a token: the newest, a spent one within or after its grace period, a reused copy, or an unknown one. */
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

  /** For a spent token, finds the successor that was issued, even if the signing key has changed since. */
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
    // The absolute difference handles a clock that was set back, after which entries would otherwise never expire.
    const first = family.spent.findIndex(([, at]) => Math.abs(now - at) < GRACE_MS);
    const recent = first === -1 ? [] : family.spent.slice(first);
    if (recent.length >= MAX_SPENT)
      throw new HttpException(429, "The refresh token is used too often. Try again later.", {
        headers: { "retry-after": "10" },
      });
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

  async #kill(token: RefreshToken, family: Family): Promise<void> {
    const { store, onReuse } = this.#options;
    const key = familyKey(token);
    if (!(await revoke(store, key, () => store.delete(key)))) return;
    // The family is revoked even if the hook fails.
    Promise.resolve(ownerOf(family))
      .then(onReuse)
      .catch((err: unknown) =>
        currentContext()?.log.error({ err: loggable(err) }, "the onReuse hook failed for a reused refresh token"),
      );
  }
}

/** Restarts the grace period, because several tabs may have lost the same response. */
function acceptedLate({ generation }: RefreshToken, family: Family, now: number): Family {
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
