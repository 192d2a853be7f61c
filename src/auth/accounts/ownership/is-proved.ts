import type { AccountUser } from "../../users/account-model.ts";

/**
 * Whether the account has an owner: the user has proved the email address, or the application created the account
 * itself. Until then, anyone may have registered it with the address of another person.
 */
export function isProved({ isVerified, isVouchedFor }: Pick<AccountUser, "isVerified" | "isVouchedFor">): boolean {
  return isVerified || isVouchedFor === true;
}
