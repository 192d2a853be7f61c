import type { UserProtocol } from "../../http/identity/identity.ts";

/** What turns an identity into a user: a class with a static `loadUser`, or any object that has it. */
export interface UserModel<out U = UserProtocol> {
  /** The user, with the permissions loaded; `null` when there is none (any more). */
  loadUser(identity: string): Promise<U | null>;
}
