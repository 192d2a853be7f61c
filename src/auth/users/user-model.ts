import type { UserProtocol } from "../../kernel/identity/identity.ts";

/** Loads users by identity: a class with a static `loadUser`, or any object that has it. */
export interface UserModel<out U = UserProtocol> {
  /** Returns the user with its permissions, or `null` if the user does not exist. */
  loadUser(identity: string): Promise<U | null>;
}
