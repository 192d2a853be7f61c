import { randomUUID } from "node:crypto";
import type { Kysely } from "kysely";
import { limitLogin } from "../../auth/limits/limit-login.ts";
import type { PasswordHasher } from "../../auth/passwords/password-hasher.ts";
import type { CreateUserInput, UserKey, UserManager } from "../../auth/users/account-model.ts";
import { type AccountName, readEmail, readUsername } from "../../auth/users/account-name.ts";
import { canonicalName } from "../../auth/users/canonical-name.ts";
import { revoked, userChanged } from "../../auth/users/user-changed.ts";
import { UserExists } from "../../auth/users/user-exists.ts";
import { PorticoError } from "../../core/portico-error.ts";
import type { PubSub } from "../../stores/pub-sub.ts";
import { afterCommit } from "../database/after-commit.ts";
import type { Database } from "../database/database.ts";
import { isUniqueViolation } from "../database/is-unique-violation.ts";
import type { PorticoTables } from "../migrations/portico-tables.ts";
import type { ApplicationColumns } from "./application-columns.ts";
import { insertUser } from "./insert-user.ts";
import type { UserCache } from "./user-cache.ts";
import { type Grants, UserGrants } from "./user-grants.ts";
import type { StoredUser } from "./user-record.ts";
import { type FoundUser, UserRows } from "./user-rows.ts";

/** Names a user by their identity: any user object does. */
interface Identified {
  readonly identity: string;
}

/** A user from another system, with the hash that it has stored. */
export interface ImportUserInput {
  readonly email: string;
  readonly username: string;
  /** As that system has stored it; `PasswordOptions.accepts` says which schemes are verified. `null`: no password yet. */
  readonly passwordHash: string | null;
  /** @default a new one */
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
  /** Of every new user. */
  readonly roles: readonly string[];
  readonly model: new (row: StoredUser) => U;
}

/** `User.objects`: makes, finds and changes users. */
export class SqlUserManager<U, Extra = object, Change = Partial<Extra>> implements UserManager<U, Extra> {
  readonly #options: ManagerOptions<U>;
  readonly #database: Kysely<PorticoTables>;
  readonly #grants: UserGrants;

  /** `userModel` calls it. */
  constructor(options: ManagerOptions<U>) {
    this.#options = options;
    this.#database = options.database;
    this.#grants = new UserGrants(options.database);
  }

  /**
   * Stores a new user. Throws `UserExists` when the address or the name is taken, 422 for an address, a name or a password that
   * cannot be one. What is given beside the three are values of your own columns; Portico's own cannot be set here, and what is no
   * column is left out.
   */
  async createUser(input: CreateUserInput & Extra): Promise<U> {
    const { password, ...rest } = input;
    const names = readNames(input);
    const password_hash = await this.#options.passwords.hash(password);
    return this.#insert(names, { ...(await this.#valuesOf(rest)), password_hash });
  }

  /** Stores a user of another system with the hash that it has; the first sign-in replaces the hash. Throws as `createUser` does. */
  async importUser(input: ImportUserInput & Extra): Promise<U> {
    const { id, passwordHash, isVerified, ...rest } = input;
    return this.#insert(readNames(input), {
      ...(await this.#valuesOf(rest)),
      ...(id === undefined ? {} : { id }),
      password_hash: passwordHash,
      email_verified_at: isVerified === true ? new Date() : null,
    });
  }

  /** The user, also one who is disabled; `null` when there is none. Throws `TypeError` for what names nobody. */
  async get(key: UserKey): Promise<U | null> {
    checkKey(key);
    const found = await this.#find(key);
    return found === null ? null : this.#user(found);
  }

  /**
   * The user with this address or name and this password. `null` for every other case, after the same work: there is no such
   * user, the password is wrong, the user is disabled, there were too many attempts by the user's other name. Inside of a request,
   * attempts are limited: throws 429.
   *
   * A hash of an older scheme, or a weaker one, is replaced.
   */
  async authenticate(identifier: string, password: string): Promise<U | null> {
    return limitLogin(identifier, async (mayTry) => {
      const isEmail = canonicalName(identifier).includes("@");
      const found = await this.#find(isEmail ? { email: identifier } : { username: identifier });
      const isAllowed = await mayTry(found?.user.id ?? null);
      const stored = found === null || found.user.disabled_at !== null || !isAllowed ? null : found.passwordHash;
      const { isRight, needsRehash } = await this.#options.passwords.verify(password, stored);
      if (!isRight || found === null || stored === null) return null;
      // A hash that could not be replaced is replaced next time.
      if (needsRehash) await this.#rehash(found.user.id, stored, password).catch(() => {});
      return this.#user(found);
    });
  }

  /**
   * Replaces the password and raises `credentialVersion`: nothing that was signed in before is any more. With `version`, only
   * while that is still the user's `credentialVersion`, else it gives `false`. Throws 404, or 422.
   */
  async setPassword(user: Identified, password: string, version?: number): Promise<boolean> {
    const password_hash = await this.#options.passwords.hash(password);
    return this.#update(user, { password_hash }, { isRevoking: true, version });
  }

  /** Replaces the address by one that was proved. Throws `UserExists` when another user has it, 404, or 422. */
  async setEmail(user: Identified, email: string): Promise<void> {
    const { text, key } = readEmail(email);
    const found = await this.#find({ id: user.identity });
    const address = { email: text, email_key: key, email_verified_at: new Date() };
    // A name that is the address goes along with it: the old one may be somebody else's tomorrow.
    const isNamedSo = found?.user.username_key === found?.user.email_key;
    const columns = isNamedSo ? { ...address, username: text, username_key: key } : address;
    await this.#mustBeFree(user, text, isNamedSo);
    try {
      await this.#update(user, columns);
    } catch (error) {
      // Somebody may have taken it in between.
      await this.#mustBeFree(user, text, isNamedSo);
      throw error;
    }
  }

  /**
   * Changes columns of your own, and gives the user as they are now. Portico's are changed by the other methods, and what is no column
   * is left out. Throws 404, and 409 when another user has a value that must be unique.
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

  /** Raises `credentialVersion`: no token that is out there signs in any more. */
  async renewCredentials(user: Identified): Promise<void> {
    await this.#update(user, {}, { isRevoking: true });
  }

  /** The user's address is proved. */
  async markVerified(user: Identified): Promise<void> {
    await this.#update(user, { email_verified_at: new Date() });
  }

  /** From here on nothing signs this user in. */
  async disable(user: Identified): Promise<void> {
    await this.#update(user, { disabled_at: new Date() }, { isRevoking: true });
  }

  /** The user may sign in again, with the same password. */
  async enable(user: Identified): Promise<void> {
    await this.#update(user, { disabled_at: null });
  }

  /** Gives permissions, and roles that are defined; what the user has already is no error. Throws 404 for a role that is not. */
  async grant(user: Identified, grants: Grants): Promise<void> {
    await this.#grants.grant(user.identity, grants);
    await this.#tell(user.identity);
  }

  /** Takes permissions and roles away; what the user does not have is no error. A permission of a role stays with the role. */
  async revoke(user: Identified, grants: Grants): Promise<void> {
    await this.#grants.revoke(user.identity, grants);
    await this.#tell(user.identity);
  }

  /** Defines a role, or what a role holds from now on: these permissions and no others. */
  async defineRole(name: string, permissions: readonly string[]): Promise<void> {
    await this.#grants.defineRole(name, permissions);
    await this.#tell(null);
  }

  /** Deletes a role; nobody has it any more. */
  async deleteRole(name: string): Promise<void> {
    await this.#grants.deleteRole(name);
    await this.#tell(null);
  }

  /**
   * The same inside of a transaction: `User.objects.within(trx).createUser(...)`. Those who keep copies of users, and open sockets,
   * are told after the commit.
   */
  within(transaction: Database<any>): SqlUserManager<U, Extra, Change> {
    return new SqlUserManager({ ...this.#options, database: transaction, rows: new UserRows(transaction) });
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

  async #mustBeFree({ identity }: Identified, email: string, isName: boolean): Promise<void> {
    const keys = isName ? [{ email }, { username: email }] : [{ email }];
    for (const key of keys) {
      const other = await this.#find(key);
      if (other !== null && other.user.id !== identity) throw new UserExists("email" in key ? "email" : "username");
    }
  }

  /** Only over the hash that was verified: another sign-in, or a new password, may have been faster. */
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

  /** The change is made: that others do not hear of it is no reason to fail. Before a commit, they would find the old one. */
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

/** For a key that no checker has seen. What it holds is not shown. */
function checkKey(key: unknown): void {
  const given = (typeof key === "object" && key !== null ? key : {}) as Readonly<Record<string, unknown>>;
  const name = KEYS.find((name) => name in given);
  if (name !== undefined && typeof given[name] === "string") return;
  const received = name === undefined ? Object.keys(given).join(", ") || typeof key : `${name}: ${typeof given[name]}`;
  throw new TypeError(`objects.get takes { id }, { email } or { username }, each a string; received ${received}`);
}

const KEYS: readonly string[] = ["id", "email", "username"];

function missing(): PorticoError {
  return new PorticoError("NOT_FOUND", "There is no such user", { status: 404 });
}

function taken(cause?: unknown): PorticoError {
  return new PorticoError("CONFLICT", "Another user has one of these values", { status: 409, cause });
}
