import { timingSafeEqual } from "node:crypto";
import { type Clock, systemClock } from "../../core/clock.ts";
import type { AppServices } from "../../http/context/app-services.ts";
import { currentContext } from "../../http/context/current-context.ts";
import { HttpException, ServiceUnavailable } from "../../http/context/http-exception.ts";
import { revoked } from "../../http/identity/credential.ts";
import type { UserProtocol } from "../../http/identity/identity.ts";
import type { KeyValueStore } from "../../stores/key-value-store.ts";
import type { PubSub } from "../../stores/pub-sub.ts";
import { AuthenticationFailed } from "../authentication-failed.ts";
import { isSignedInStill } from "../is-signed-in-still.ts";
import { PermissionDenied } from "../permission-denied.ts";
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

/** A key's last use is written at most this often. */
const USED_EVERY_MS = 60_000;
/** Compared with where there is nothing to compare with. */
const NO_DIGEST = "A".repeat(43);

/**
 * Makes, lists, renews and revokes API keys. One object serves the routes and the backend.
 *
 * Without a `store` it works inside of a request, on the stores of the application; give one to use it elsewhere, too. What
 * fails for the store's sake is 503.
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

  /**
   * A new key of this user. The answer holds the key: show it once, with `Cache-Control: no-store`.
   *
   * Throws 403 in a request that came by an API key, which must not make others, 401 in one whose own credential was revoked
   * meanwhile, and 409 when the user has as many as may be.
   */
  async create(user: UserProtocol, options: NewAPIKey = {}): Promise<CreatedAPIKey> {
    const { name, permissions, expiresInSeconds, perMinute } = resolveNewKey(options);
    if (!user.isAuthenticated || typeof user.identity !== "string" || user.identity === "")
      throw new TypeError("APIKeys.create takes a user with an identity, not nobody");
    refuseKeys();
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
      // Now that it is listed, a revocation finds it; one that was before ends it here.
      if (await isSignedInStill()) return added;
      await keys.remove(user.identity, [made.id]);
      throw new AuthenticationFailed();
    });
    return { ...shown(key), key: made.text };
  }

  /** The user's keys, the newest first. */
  async list(user: UserProtocol): Promise<readonly APIKey[]> {
    const keys = await this.#reach((store) => store.list(user.identity));
    return keys.map(shown).reverse();
  }

  /**
   * Gives one of the user's keys another secret, under the same id and with what it may do; `null` when the user has none by
   * that id. The old text counts no more, or for `overlapSeconds`. Throws 403 in a request that came by an API key, 401 in one
   * whose own credential was revoked meanwhile.
   */
  async renew(user: UserProtocol, id: string, options: RenewAPIKey = {}): Promise<CreatedAPIKey | null> {
    const { expiresInSeconds, overlapSeconds } = resolveRenewal(options);
    refuseKeys();
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
    if (renewed !== null && overlapSeconds === 0) await this.#tell(user.identity, [id]);
    return renewed;
  }

  /** Ends one of the user's keys; `false` when the user has none by that id. */
  async revoke(user: UserProtocol, id: string): Promise<boolean> {
    const ended = await this.#reach(async (keys) =>
      (await findOf(keys, user, id)) === null ? [] : keys.remove(user.identity, [id]),
    );
    await this.#tell(user.identity, ended);
    return ended.length > 0;
  }

  /** Ends all of the user's keys, and says how many: after a password was reset, for example. */
  async revokeAll(user: Pick<UserProtocol, "identity">): Promise<number> {
    const ended = await this.#reach(async (keys) => keys.remove(user.identity, await keys.ids(user.identity)));
    await this.#tell(user.identity, ended);
    return ended.length;
  }

  /**
   * The key that this is the text of, its use noted; `null` for what is none, whatever the reason. Nothing is looked up for
   * a text whose checksum is wrong. Rejects when the store does.
   */
  async verify(text: string): Promise<APIKey | null> {
    return this.verifyOn(currentContext()?.services, text);
  }

  /** @internal The same, for a request of this application. */
  async verifyOn(services: AppServices | undefined, text: string): Promise<APIKey | null> {
    const presented = readKey(text);
    if (presented === null) return null;
    const keys = this.#keysOn(services);
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
    // Nobody waits for it, and it fails without a consequence. Gone or renewed meanwhile, it is left alone.
    keys
      .replace(found, used)
      .catch((err: unknown) => services?.log.warn({ err }, "the use of an API key was not noted"));
    return shown({ ...found, record: used });
  }

  get #now(): number {
    return (this.#clock ?? currentContext()?.services.clock ?? systemClock).now();
  }

  #keysOn(services: AppServices | undefined): APIKeyStore {
    const store = this.#store ?? services?.stores.durable;
    if (store === undefined)
      throw new Error("APIKeys has no store: outside of a request, new APIKeys({ store }) needs one");
    return new APIKeyStore(store, this.#clock ?? services?.clock ?? systemClock);
  }

  /** A store that fails is "not now" to the client; why, the log knows. */
  async #reach<T>(operation: (keys: APIKeyStore) => Promise<T>): Promise<T> {
    const keys = this.#keysOn(currentContext()?.services);
    try {
      return await operation(keys);
    } catch (error) {
      if (error instanceof HttpException) throw error;
      currentContext()?.log.error({ err: error }, "the API keys could not be reached");
      throw new ServiceUnavailable("The API keys cannot be reached", { cause: error });
    }
  }

  /** What is revoked is revoked, also when nobody can be told: open sockets are checked against the store in time. */
  async #tell(user: string, ids: readonly string[]): Promise<void> {
    const ctx = currentContext();
    const bus = this.#bus ?? ctx?.services.stores.bus;
    try {
      for (const id of ids) await bus?.publish(revoked, { user, credential: credentialId(id) });
    } catch (err) {
      ctx?.log.warn({ err }, "the revocation of an API key could not be told");
    }
  }
}

/** A key that leaks must not be able to make others that outlive it. */
function refuseKeys(): void {
  if (currentContext()?.scope.auth === "apikey")
    throw new PermissionDenied("An API key makes no API keys: sign in another way");
}

async function findOf(keys: APIKeyStore, user: UserProtocol, id: string): Promise<StoredKey | null> {
  const found = isKeyId(id) ? await keys.find(id) : null;
  return found?.record.user === user.identity ? found : null;
}

/** A use may be noted meanwhile, and must not stand in the way; a second renewal wins over this one, and so does an end. */
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

/** In constant time, also where there is nothing to compare with. */
function isSame(digest: string, stored: string | undefined): boolean {
  const [a, b] = [Buffer.from(digest), Buffer.from(stored ?? NO_DIGEST)];
  return a.length === b.length && timingSafeEqual(a, b);
}
