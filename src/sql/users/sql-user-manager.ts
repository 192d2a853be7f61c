import { randomUUID } from "node:crypto";
import type { Kysely } from "kysely";
import { limitLogin } from "../../auth/limits/limit-login.ts";
import type { PasswordHasher } from "../../auth/passwords/password-hasher.ts";
import type { CreateUserInput, UserKey, UserManager } from "../../auth/users/account-model.ts";
import { type AccountName, readEmail, readUsername } from "../../auth/users/account-name.ts";
import { canonicalName } from "../../auth/users/canonical-name.ts";
import { UserExists } from "../../auth/users/user-exists.ts";
import { PorticoError } from "../../core/portico-error.ts";
import { currentContext } from "../../kernel/context/current-context.ts";
import { revoked } from "../../kernel/identity/credential.ts";
import { userChanged } from "../../kernel/identity/user-changed.ts";
import type { PubSub } from "../../stores/pub-sub.ts";
import { afterCommit } from "../database/after-commit.ts";
import type { Database } from "../database/database.ts";
import { isUniqueViolation } from "../database/is-unique-violation.ts";
import type { PorticoTables } from "../database/portico-tables.ts";
import { asPortico } from "../guard/acting-handles.ts";
import type { ApplicationColumns } from "./application-columns.ts";
import { insertUser } from "./insert-user.ts";
import type { UserCache } from "./user-cache.ts";
import { type Grants, type StoredRole, UserGrants } from "./user-grants.ts";
import type { StoredUser } from "./user-record.ts";
import { type FoundUser, type UserFilter, UserRows } from "./user-rows.ts";

/** Identifies a user. Any user object fits. */
interface Identified {
  readonly identity: string;
}

/** A user from another system, with the stored hash. */
export interface ImportUserInput {
  readonly email: string;
  readonly username: string;
  /**
   * The hash as that system stored it. `PasswordOptions.accepts` lists the schemes that are verified. `null` means that
   * the user has no password yet.
   */
  readonly passwordHash: string | null;
  /** @default a new id */
  readonly id?: string;
  readonly isVerified?: boolean;
}

interface ManagerOptions<U> {
  readonly database: Database;
  readonly rows: UserRows;
  readonly cache: UserCache;
  readonly columns: ApplicationColumns;
  readonly bus: PubSub | undefined;
  readonly passwords: PasswordHasher;
  /** The roles of every new user. */
  readonly roles: readonly string[];
  readonly model: new (row: StoredUser) => U;
}

/** `User.objects`: creates, finds and changes users. */
export class SQLUserManager<U, Extra = object, Change = Partial<Extra>> implements UserManager<U, Extra> {
  readonly #options: ManagerOptions<U>;
  readonly #database: Kysely<PorticoTables>;
  readonly #grants: UserGrants;

  /** Called by `userModel`. */
  constructor(options: ManagerOptions<U>) {
    this.#options = options;
    this.#database = options.database;
    this.#grants = new UserGrants(options.database);
  }

  /**
   * Creates a user. Throws `UserExists` if the address or the name is taken, and 422 for an invalid address, name or
   * password. Other properties are values of your own columns. Portico's columns cannot be set here, and unknown
   * columns are ignored.
   *
   * Outside a request, such as in a command, the application vouches for the user, who may add passkeys, links and API
   * keys before the email address is verified.
   */
  async createUser(input: CreateUserInput & Extra): Promise<U> {
    const { password, ...rest } = input;
    const names = readNames(input);
    const password_hash = await this.#options.passwords.hash(password);
    // Requests may come from anyone, so the application vouches only for users that it creates elsewhere.
    const vouched_at = currentContext() === null ? new Date() : null;
    return this.#insert(names, { ...(await this.#valuesOf(rest)), password_hash, vouched_at });
  }

  /**
   * Creates a user from another system with their existing hash. The first sign-in replaces the hash. Throws as
   * `createUser` does.
   */
  async importUser(input: ImportUserInput & Extra): Promise<U> {
    const { id, passwordHash, isVerified, ...rest } = input;
    return this.#insert(readNames(input), {
      ...(await this.#valuesOf(rest)),
      ...(id === undefined ? {} : { id }),
      password_hash: passwordHash,
      email_verified_at: isVerified === true ? new Date() : null,
    });
  }

  /** Returns the user, even if they are disabled, or `null` if there is none. Throws `TypeError` for an invalid key. */
  async get(key: UserKey): Promise<U | null> {
    checkKey(key);
    const found = await this.#find(key);
    return found === null ? null : this.#user(found);
  }

  /**
   * Returns the user with this address or name and this password. Returns `null` in every other case, after the same
   * amount of work: an unknown user, a wrong password, a disabled user, or too many attempts with the user's other
   * name. Inside a request, attempts are limited: throws 429.
   *
   * Replaces a hash of an older or weaker scheme.
   */
  async authenticate(identifier: string, password: string): Promise<U | null> {
    return limitLogin(identifier, async (mayTry) => {
      const isEmail = canonicalName(identifier).includes("@");
      const found = await this.#find(isEmail ? { email: identifier } : { username: identifier });
      const isAllowed = await mayTry(found?.user.id ?? null);
      const stored = found === null || found.user.disabled_at !== null || !isAllowed ? null : found.passwordHash;
      const { isRight, needsRehash } = await this.#options.passwords.verify(password, stored);
      if (!isRight || found === null || stored === null) return null;
      // If replacing the hash fails, the next sign-in tries again.
      if (needsRehash) await this.#rehash(found.user.id, stored, password).catch(() => {});
      return this.#user(found);
    });
  }

  /**
   * Replaces the password and raises `credentialVersion`, which ends all existing sign-ins. With `version`, it only
   * does so if that is still the user's `credentialVersion`, and returns `false` otherwise. Throws 404 or 422.
   */
  async setPassword(user: Identified, password: string, version?: number): Promise<boolean> {
    const password_hash = await this.#options.passwords.hash(password);
    return this.#update(user, { password_hash }, { isRevoking: true, version });
  }

  /** Replaces the address with a verified one. Throws `UserExists` if another user has it, 404 or 422. */
  async setEmail(user: Identified, email: string): Promise<void> {
    const { text, key } = readEmail(email);
    const found = await this.#find({ id: user.identity });
    const address = { email: text, email_key: key, email_verified_at: new Date() };
    // A username that equals the address changes with it, because the old address may belong to another person later.
    const isNamedSo = found?.user.username_key === found?.user.email_key;
    const columns = isNamedSo ? { ...address, username: text, username_key: key } : address;
    const keys = isNamedSo ? [{ email: text }, { username: text }] : [{ email: text }];
    await this.#mustBeFree(user, keys);
    try {
      await this.#update(user, columns);
    } catch (error) {
      // Another user may have taken it in the meantime.
      await this.#mustBeFree(user, keys);
      throw error;
    }
  }

  /** Replaces the username. Throws `UserExists` if another user has it, 404 or 422. */
  async setUsername(user: Identified, username: string): Promise<void> {
    const found = await this.#find({ id: user.identity });
    if (found === null) throw missing();
    const { text, key } = readUsername(username, readEmail(found.user.email));
    await this.#mustBeFree(user, [{ username: text }]);
    try {
      await this.#update(user, { username: text, username_key: key });
    } catch (error) {
      // Another user may have taken it in the meantime.
      await this.#mustBeFree(user, [{ username: text }]);
      throw error;
    }
  }

  /**
   * Changes your own columns and returns the updated user. Portico's columns have their own methods, and unknown
   * columns are ignored. Throws 404, and 409 if another user has a value that must be unique.
   */
  async update(user: Identified, columns: Change): Promise<U> {
    const values = await this.#valuesOf(columns as object);
    if (Object.keys(values).length > 0)
      await this.#update(user, values).catch((cause: unknown) => {
        throw isUniqueViolation(cause) ? taken(cause) : cause;
      });
    const changed = await this.get({ id: user.identity });
    if (changed === null) throw missing();
    return changed;
  }

  /** Raises `credentialVersion`, which revokes all existing tokens. */
  async renewCredentials(user: Identified): Promise<void> {
    await this.#update(user, {}, { isRevoking: true });
  }

  /** Marks the user's address as verified. */
  async markVerified(user: Identified): Promise<void> {
    await this.#update(user, { email_verified_at: new Date() });
  }

  /** Disables the user, who can no longer sign in by any method. */
  async disable(user: Identified): Promise<void> {
    await this.#update(user, { disabled_at: new Date() }, { isRevoking: true });
  }

  /** Enables the user, who can sign in again with the same password. */
  async enable(user: Identified): Promise<void> {
    await this.#update(user, { disabled_at: null });
  }

  /**
   * Grants permissions and existing roles. Values that the user already has are ignored. Throws 404 for an unknown
   * role.
   */
  async grant(user: Identified, grants: Grants): Promise<void> {
    await this.#grants.grant(user.identity, grants);
    await this.#tell(user.identity);
  }

  /**
   * Revokes permissions and roles. Values that the user does not have are ignored. Permissions that come from a role
   * stay.
   */
  async revoke(user: Identified, grants: Grants): Promise<void> {
    await this.#grants.revoke(user.identity, grants);
    await this.#tell(user.identity);
  }

  /** Defines a role, or replaces the permissions of an existing one. */
  async defineRole(name: string, permissions: readonly string[]): Promise<void> {
    await this.#grants.defineRole(name, permissions);
    await this.#tell(null);
  }

  /** Deletes a role and takes it from all users. */
  async deleteRole(name: string): Promise<void> {
    await this.#grants.deleteRole(name);
    await this.#tell(null);
  }

  /** @internal For the command line: the database of the users. */
  get database(): Database {
    return this.#options.database;
  }

  /** @internal For the command line: users in the order of their names. */
  async list(filter: UserFilter): Promise<readonly U[]> {
    const rows = await this.#options.rows.list(filter);
    return rows.map((row) => new this.#options.model(row));
  }

  /** @internal For the command line: all roles by name. */
  roles(): Promise<readonly StoredRole[]> {
    return this.#grants.roles();
  }

  /**
   * Returns this manager inside a transaction: `User.objects.within(trx).createUser(...)`. Caches of users and open
   * sockets are notified after the commit.
   */
  within(transaction: Database<any>): SQLUserManager<U, Extra, Change> {
    const database: Database = asPortico(transaction.withoutPlugins());
    return new SQLUserManager({ ...this.#options, database, rows: new UserRows(database) });
  }

  async #insert(names: Names, columns: Record<string, unknown>): Promise<U> {
    const { email, username } = names;
    const values = {
      id: randomUUID(),
      ...columns,
      email: email.text,
      email_key: email.key,
      username: username.text,
      username_key: username.key,
    };
    const id = await insertUser(this.#options.database, values, this.#options.roles);
    const user = id === undefined ? null : await this.get({ id });
    if (user !== null) return user;
    if ((await this.#find({ email: email.text })) !== null) throw new UserExists("email");
    if ((await this.#find({ username: username.text })) !== null) throw new UserExists("username");
    throw taken();
  }

  async #update(
    user: Identified,
    columns: Record<string, unknown>,
    { isRevoking = false, version }: { readonly isRevoking?: boolean; readonly version?: number | undefined } = {},
  ): Promise<boolean> {
    const { numUpdatedRows } = await this.#database
      .updateTable("users")
      .set(columns as object)
      .$if(isRevoking, (update) => update.set((eb) => ({ credential_version: eb("credential_version", "+", 1) })))
      .$if(version !== undefined, (update) => update.where("credential_version", "=", version as number))
      .where("id", "=", user.identity)
      .executeTakeFirst();
    if (numUpdatedRows === 0n && version !== undefined && (await this.#find({ id: user.identity })) !== null)
      return false;
    if (numUpdatedRows === 0n) throw missing();
    await this.#tell(user.identity, isRevoking);
    return true;
  }

  #valuesOf(row: object): Promise<Record<string, unknown>> {
    return this.#options.columns.valuesOf(this.#options.database, row);
  }

  async #mustBeFree(
    { identity }: Identified,
    keys: readonly ({ readonly email: string } | { readonly username: string })[],
  ): Promise<void> {
    for (const key of keys) {
      const other = await this.#find(key);
      if (other !== null && other.user.id !== identity) throw new UserExists("email" in key ? "email" : "username");
    }
  }

  /** Replaces only the hash that was verified, because another sign-in or a new password may have been faster. */
  async #rehash(id: string, stored: string, password: string): Promise<void> {
    const password_hash = await this.#options.passwords.hash(password);
    await this.#database
      .updateTable("users")
      .set({ password_hash })
      .where("id", "=", id)
      .where("password_hash", "=", stored)
      .execute();
  }

  async #find(key: UserKey): Promise<FoundUser | null> {
    const { rows } = this.#options;
    if ("id" in key) return rows.find("id", key.id);
    return "email" in key
      ? rows.find("email_key", canonicalName(key.email))
      : rows.find("username_key", canonicalName(key.username));
  }

  /**
   * The change is already made, so a failure to publish it is not an error. It is published after the commit, because
   * others would read the old values before.
   */
  async #tell(identity: string | null, isRevoking = false): Promise<void> {
    const { cache, bus, database } = this.#options;
    await afterCommit(database, async () => {
      cache.forget(identity);
      if (bus === undefined) return;
      const told = [bus.publish(userChanged, { user: identity })];
      if (isRevoking && identity !== null) told.push(bus.publish(revoked, { user: identity }));
      await Promise.allSettled(told);
    });
  }

  #user({ user }: FoundUser): U {
    return new this.#options.model(user);
  }
}

interface Names {
  readonly email: AccountName;
  readonly username: AccountName;
}

function readNames(input: { readonly email: string; readonly username: string }): Names {
  const email = readEmail(input.email);
  return { email, username: readUsername(input.username, email) };
}

/** For a key that was not type-checked. Its values are not shown. */
function checkKey(key: unknown): void {
  const given = (typeof key === "object" && key !== null ? key : {}) as Readonly<Record<string, unknown>>;
  const name = KEYS.find((name) => name in given);
  if (name !== undefined && typeof given[name] === "string") return;
  const received = name === undefined ? Object.keys(given).join(", ") || typeof key : `${name}: ${typeof given[name]}`;
  throw new TypeError(`objects.get expects { id }, { email } or { username } with a string, received ${received}`);
}

const KEYS: readonly string[] = ["id", "email", "username"];

function missing(): PorticoError {
  return new PorticoError("NOT_FOUND", "The user does not exist", { status: 404 });
}

function taken(cause?: unknown): PorticoError {
  return new PorticoError("CONFLICT", "Another user already has one of these values", { status: 409, cause });
}
