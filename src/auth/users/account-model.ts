import type { CurrentUser, UserProtocol } from "../../http/identity/identity.ts";
import type { UserModel } from "./user-model.ts";

/** What the account routes must know of a user beside `UserProtocol`. */
export interface AccountUser extends UserProtocol {
  readonly email: string;
  readonly username: string;
  /** Whether the address was proved to be theirs. */
  readonly isVerified: boolean;
}

/** What a new user is made of. */
export interface CreateUserInput {
  readonly email: string;
  readonly username: string;
  readonly password: string;
}

/** Names one user. */
export type UserKey = { readonly id: string } | { readonly email: string } | { readonly username: string };

/**
 * What `User.objects` does for accounts. `portico/sql` has one; write another for users that are kept elsewhere.
 *
 * Addresses and names are compared without regard to case and to the form of their characters; the address stays as it was
 * given.
 */
export interface UserManager<out U, in Extra = {}> {
  /**
   * Stores a new user. Throws `UserExists` when the address or the name is taken, 422 for an address, a name or a password
   * that cannot be one.
   */
  createUser(input: CreateUserInput & Extra): Promise<U>;
  /** The user, also one who is disabled; `null` when there is none. */
  get(key: UserKey): Promise<U | null>;
  /**
   * The user with this address or name and this password. `null` for every other case, after the same work: there is no such
   * user, the password is wrong, the user is disabled.
   */
  authenticate(identifier: string, password: string): Promise<U | null>;
  /**
   * Replaces the password and raises `credentialVersion` by one. With `version`, only while that is still the user's: `false` when
   * something else was faster.
   */
  setPassword(user: UserProtocol, password: string, version?: number): Promise<boolean>;
  /** Replaces the address by one that was proved. Throws `UserExists` when another user has it. */
  setEmail(user: UserProtocol, email: string): Promise<void>;
  /** Raises `credentialVersion`: no token that is out there signs in any more. */
  renewCredentials(user: UserProtocol): Promise<void>;
  /** The user's address is proved. */
  markVerified(user: UserProtocol): Promise<void>;
  /** From here on nothing signs this user in; raises `credentialVersion`, so what did before, API keys aside, does not when enabled again. */
  disable(user: UserProtocol): Promise<void>;
  enable(user: UserProtocol): Promise<void>;
}

/** A user model with accounts: `loadUser`, and `objects`. */
export interface AccountModel<out U = CurrentUser & AccountUser> extends UserModel<U> {
  readonly objects: UserManager<U>;
}
