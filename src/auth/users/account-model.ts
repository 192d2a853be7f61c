import type { CurrentUser, UserProtocol } from "../../kernel/identity/identity.ts";
import type { UserModel } from "./user-model.ts";

/** The members that the account routes need in addition to `UserProtocol`. */
export interface AccountUser extends UserProtocol {
  readonly email: string;
  readonly username: string;
  /** Whether the user has verified the email address. */
  readonly isVerified: boolean;
  /**
   * Whether the application created the account itself, and so vouches for its owner. The owner of any other account is
   * unknown until the email address is verified. @default false
   */
  readonly isVouchedFor?: boolean;
}

/** The values of a new user. */
export interface CreateUserInput {
  readonly email: string;
  readonly username: string;
  readonly password: string;
}

/** Identifies one user. */
export type UserKey = { readonly id: string } | { readonly email: string } | { readonly username: string };

/**
 * Manages the users of accounts, as `User.objects`. `portico/sql` has an implementation. Write your own for users
 * stored elsewhere.
 *
 * Email addresses and usernames are compared by their `canonicalName`, so case and Unicode form do not matter. The
 * address is stored as it was entered.
 */
export interface UserManager<out U, in Extra = {}> {
  /**
   * Stores a new user. Throws `UserExists` if the email address or username is taken, and 422 if the address, the
   * username or the password is invalid.
   */
  createUser(input: CreateUserInput & Extra): Promise<U>;
  /** Returns the user, even if disabled, or `null` if there is none. */
  get(key: UserKey): Promise<U | null>;
  /**
   * Returns the user with this email address or username and this password. Returns `null`, after the same work, if
   * there is no such user, the password is wrong or the user is disabled.
   */
  authenticate(identifier: string, password: string): Promise<U | null>;
  /**
   * Replaces the password and raises `credentialVersion` by one. With `version`, does so only if the user still has
   * that version, and returns `false` otherwise.
   */
  setPassword(user: UserProtocol, password: string, version?: number): Promise<boolean>;
  /** Replaces the email address with a verified one. Throws `UserExists` if another user has it. */
  setEmail(user: UserProtocol, email: string): Promise<void>;
  /**
   * Replaces the username. Throws `UserExists` if another user has it. The option `verifyEmail` requires it: a user gets the
   * username of the registration when the address is verified.
   */
  setUsername?(user: UserProtocol, username: string): Promise<void>;
  /** Raises `credentialVersion`, which invalidates all existing tokens. */
  renewCredentials(user: UserProtocol): Promise<void>;
  /** Marks the user's email address as verified. */
  markVerified(user: UserProtocol): Promise<void>;
  /**
   * Blocks every sign-in of the user and raises `credentialVersion`: after `enable`, only API keys issued before are
   * valid again.
   */
  disable(user: UserProtocol): Promise<void>;
  enable(user: UserProtocol): Promise<void>;
}

/** A user model with accounts: `loadUser` and `objects`. */
export interface AccountModel<out U = CurrentUser & AccountUser> extends UserModel<U> {
  readonly objects: UserManager<U>;
}
