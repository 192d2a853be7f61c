import { timingSafeEqual } from "node:crypto";
import { type Clock, systemClock } from "../../core/clock.ts";
import { isInstance, loggable } from "../../core/describe-error.ts";
import type { AppServices } from "../../kernel/context/app-services.ts";
import { currentContext } from "../../kernel/context/current-context.ts";
import { AuthenticationFailed } from "../../kernel/exceptions/authentication-failed.ts";
import { HttpException, ServiceUnavailable } from "../../kernel/exceptions/http-exception.ts";
import { PermissionDenied } from "../../kernel/exceptions/permission-denied.ts";
import { noteSecret } from "../../kernel/idempotency/may-be-stored.ts";
import { revoked } from "../../kernel/identity/credential.ts";
import type { UserProtocol } from "../../kernel/identity/identity.ts";
import type { KeyValueStore } from "../../stores/key-value-store.ts";
import type { PubSub } from "../../stores/pub-sub.ts";
import { impersonating } from "../callers/impersonating.ts";
import { isSignedInStill } from "../callers/is-signed-in-still.ts";
import { type APIKey, type CreatedAPIKey, credentialId, shown } from "./api-key.ts";
import type { APIKeyRecord } from "./api-key-record.ts";
import { APIKeyStore, type StoredKey } from "./api-key-store.ts";
import { type APIKeyText, isKeyId, keyDigest, makeKey, readKey } from "./api-key-text.ts";
import {
  type APIKeysOptions,
  type NewAPIKey,
  type RenewAPIKey,
  resolveKeysOptions,
  resolveNewKey,
  resolveRenewal,
} from "./api-keys-options.ts";

/** The last use of a key is written at most this often. */
const USED_EVERY_MS = 60_000;
/** Compared with if the key does not exist, so that the time is the same. */
const NO_DIGEST = "A".repeat(43);

/**
 * Creates, lists, renews and revokes API keys. Routes and the backend can share one object.
 *
 * Without a `store` it works only inside a request, with the stores of the application. Pass a `store` to use it
 * elsewhere. A store failure throws 503.
 *
 * @example
 * ```ts
 * import { NotFound, PorticoApp } from "portico";
 * import { APIKeyAuthBackend, APIKeys, AuthenticationMiddleware, SimpleUser, useAuth } from "portico/auth";
 *
 * const keys = new APIKeys();
 * const app = new PorticoApp();
 * app.use(new AuthenticationMiddleware({ userModel: SimpleUser, backend: new APIKeyAuthBackend({ keys }) }));
 *
 * app.post("/keys", { auth: useAuth() }, ({ user }) => keys.create(user, { name: "backup", permissions: ["read:books"] }));
 * app.get("/keys", { auth: useAuth() }, ({ user }) => keys.list(user));
 * app.delete("/keys/:id", { auth: useAuth() }, async ({ user, path }) => {
 *   if (!(await keys.revoke(user, path.id))) throw new NotFound();
 * });
 * ```
 */
export class APIKeys {
  readonly #store: KeyValueStore | undefined;
  readonly #bus: PubSub | undefined;
  readonly #clock: Clock | undefined;
  readonly #maxPerUser: number;

  constructor(options: APIKeysOptions = {}) {
    const { store, bus, clock, maxPerUser } = resolveKeysOptions(options);
    this.#store = store;
    this.#bus = bus;
    this.#clock = clock;
    this.#maxPerUser = maxPerUser;
  }

  /** @internal Whether `store` was passed. */
  get hasStore(): boolean {
    return this.#store !== undefined;
  }

  /**
   * Creates a key for this user. The result contains the key itself: show it once, with `Cache-Control: no-store`.
   *
   * Throws 403 if the request was authenticated by an API key, 401 if its credential was revoked in the meantime, and
   * 409 if the user has the maximum number of keys.
   */
  async create(user: UserProtocol, options: NewAPIKey = {}): Promise<CreatedAPIKey> {
    const { name, permissions, expiresInSeconds, perMinute } = resolveNewKey(options);
    if (!user.isAuthenticated || typeof user.identity !== "string" || user.identity === "")
      throw new TypeError("APIKeys.create requires a signed-in user with an identity");
    refuseKeys();
    noteSecret();
    const now = this.#now;
    const made = makeKey();
    const record: APIKeyRecord = {
      user: user.identity,
      ...textOf(made),
      name,
      permissions: permissions ?? null,
      perMinute: perMinute ?? null,
      createdAt: now,
      expiresAt: endOf(now, expiresInSeconds),
      lastUsedAt: null,
      previous: null,
      isPending: false,
    };
    const key = await this.#reach(async (keys) => {
      const added = await keys.add(made.id, record, this.#maxPerUser);
      // A revocation after this point finds the listed key; one before it is noticed here.
      if (await isSignedInStill()) return added;
      await keys.remove(user.identity, [made.id]);
      throw new AuthenticationFailed();
    });
    return { ...shown(key), key: made.text };
  }

  /** Lists the user's keys, newest first. */
  async list(user: UserProtocol): Promise<readonly APIKey[]> {
    const keys = await this.#reach((store) => store.list(user.identity));
    return keys.map(shown).reverse();
  }

  /**
   * Gives a key of the user a new secret, with the same id and permissions. Returns `null` if the user has no key with
   * that id. The old secret is invalid at once, or after `overlapSeconds`. Throws 403 if the request was authenticated
   * by an API key, and 401 if its credential was revoked in the meantime.
   */
  async renew(user: UserProtocol, id: string, options: RenewAPIKey = {}): Promise<CreatedAPIKey | null> {
    const { expiresInSeconds, overlapSeconds } = resolveRenewal(options);
    refuseKeys();
    noteSecret();
    const now = this.#now;
    const renewed = await this.#reach(async (keys) => {
      const found = await findOf(keys, user, id);
      if (found === null) return null;
      if (!(await isSignedInStill())) throw new AuthenticationFailed();
      const { record } = found;
      const lifetime = record.expiresAt === null ? "never" : (record.expiresAt - record.createdAt) / 1000;
      const made = makeKey(id);
      const next: APIKeyRecord = {
        ...record,
        ...textOf(made),
        createdAt: now,
        expiresAt: endOf(now, expiresInSeconds ?? lifetime),
        previous: overlapSeconds === 0 ? null : { hash: record.hash, until: now + overlapSeconds * 1000 },
      };
      const key = await replaceNewest(keys, found, next);
      return key === null ? null : { ...shown(key), key: made.text };
    });
    if (renewed !== null && overlapSeconds === 0) await this.#publish(user.identity, [id]);
    return renewed;
  }

  /** Revokes a key of the user. Returns `false` if the user has no key with that id. */
  async revoke(user: UserProtocol, id: string): Promise<boolean> {
    const ended = await this.#reach(async (keys) =>
      (await findOf(keys, user, id)) === null ? [] : keys.remove(user.identity, [id]),
    );
    await this.#publish(user.identity, ended);
    return ended.length > 0;
  }

  /** Revokes all keys of the user, for example after a password reset, and returns how many there were. */
  async revokeAll(user: Pick<UserProtocol, "identity">): Promise<number> {
    const ended = await this.#reach(async (keys) => keys.remove(user.identity, await keys.ids(user.identity)));
    await this.#publish(user.identity, ended);
    return ended.length;
  }

  /**
   * Returns the key with this text and records its use, or `null` if it is not valid for any reason. A text with a
   * wrong checksum is not looked up. Rejects when the store fails.
   */
  async verify(text: string): Promise<APIKey | null> {
    return this.verifyOn(currentContext()?.services, text);
  }

  /** @internal Verifies a key for a request of this application. */
  async verifyOn(services: AppServices | undefined, text: string): Promise<APIKey | null> {
    const presented = readKey(text);
    if (presented === null) return null;
    const keys = this.keysOn(services);
    const found = await keys.find(presented.id);
    const now = (this.#clock ?? services?.clock ?? systemClock).now();
    const digest = keyDigest(presented);
    const isRight = isSame(digest, found?.record.hash);
    const { previous } = found?.record ?? {};
    const isPrevious = isSame(digest, previous?.hash) && now < (previous?.until ?? 0);
    if (found === null || !(isRight || isPrevious)) return null;
    const { lastUsedAt } = found.record;
    if (lastUsedAt !== null && now - lastUsedAt < USED_EVERY_MS && now >= lastUsedAt) return shown(found);
    const used = { ...found.record, lastUsedAt: now };
    // Not awaited: a failure only loses the time of use. A key revoked or renewed in the meantime is left unchanged.
    keys
      .replace(found, used)
      .catch((err: unknown) => services?.log.warn({ err: loggable(err) }, "failed to record the use of an API key"));
    return shown({ ...found, record: used });
  }

  get #now(): number {
    return (this.#clock ?? currentContext()?.services.clock ?? systemClock).now();
  }

  /** @internal The stored keys of an application. */
  keysOn(services: Pick<AppServices, "stores" | "clock"> | undefined): APIKeyStore {
    const store = this.#store ?? services?.stores.durable;
    if (store === undefined)
      throw new Error("APIKeys has no store: outside a request, create it with new APIKeys({ store })");
    return new APIKeyStore(store, this.#clock ?? services?.clock ?? systemClock);
  }

  /** Turns a store failure into 503 for the client and logs the cause. */
  async #reach<T>(operation: (keys: APIKeyStore) => Promise<T>): Promise<T> {
    const keys = this.keysOn(currentContext()?.services);
    try {
      return await operation(keys);
    } catch (error) {
      if (isInstance(error, HttpException)) throw error;
      currentContext()?.log.error({ err: loggable(error) }, "the API key store failed");
      throw new ServiceUnavailable("API keys are temporarily unavailable. Try again later.", { cause: error });
    }
  }

  /**
   * Publishes revocations. If that fails, the keys are revoked anyway, and open sockets are closed at their next
   * recheck.
   */
  async #publish(user: string, ids: readonly string[]): Promise<void> {
    const ctx = currentContext();
    const bus = this.#bus ?? ctx?.services.stores.bus;
    try {
      for (const id of ids) await bus?.publish(revoked, { user, credential: credentialId(id) });
    } catch (err) {
      ctx?.log.warn({ err: loggable(err) }, "failed to publish an API key revocation");
    }
  }
}

/** A leaked key must not be able to create keys that outlive it, and neither must an administrator who acts as the user. */
function refuseKeys(): void {
  const ctx = currentContext();
  if (ctx?.isImpersonated === true) throw impersonating();
  if (ctx?.scope.auth === "apikey")
    throw new PermissionDenied("API keys cannot be used to create API keys. Sign in with a session or token.");
}

async function findOf(keys: APIKeyStore, user: UserProtocol, id: string): Promise<StoredKey | null> {
  const found = isKeyId(id) ? await keys.find(id) : null;
  return found?.record.user === user.identity ? found : null;
}

/** Retries if only a use was recorded in the meantime. A concurrent renewal or revocation wins over this one. */
async function replaceNewest(keys: APIKeyStore, found: StoredKey, next: APIKeyRecord): Promise<StoredKey | null> {
  const done = await keys.replace(found, next);
  if (done !== null) return done;
  const again = await keys.find(found.id);
  return again === null || again.record.hash !== found.record.hash ? null : replaceNewest(keys, again, next);
}

function textOf(made: APIKeyText): { readonly hash: string; readonly lastFour: string } {
  return { hash: keyDigest(made), lastFour: made.text.slice(-4) };
}

function endOf(now: number, lifetime: number | "never"): number | null {
  return lifetime === "never" ? null : now + lifetime * 1000;
}

/** Compares in constant time, even if there is no stored hash. */
function isSame(digest: string, stored: string | undefined): boolean {
  const [a, b] = [Buffer.from(digest), Buffer.from(stored ?? NO_DIGEST)];
  return a.length === b.length && timingSafeEqual(a, b);
}
