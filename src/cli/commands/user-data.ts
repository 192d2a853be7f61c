import type { UserRecord } from "../../sql/users/user-record.ts";

/** The user as JSON, with the same keys in every command. */
export interface UserData {
  readonly id: string;
  readonly username: string;
  readonly email: string;
  readonly isVerified: boolean;
  readonly isDisabled: boolean;
  readonly roles: readonly string[];
  readonly permissions: readonly string[];
  readonly createdAt: Date;
}

export function userData(user: UserRecord): UserData {
  const { id, username, email, isVerified, isDisabled, roles, permissions, createdAt } = user;
  return { id, username, email, isVerified, isDisabled, roles, permissions: [...permissions], createdAt };
}
