import type { AccountUser } from "../../users/account-model.ts";
import { type RecordSchema, record } from "./record-schema.ts";

const account = {
  id: "string",
  email: "string",
  username: "string",
  email_verified: "boolean",
  impersonator: "string?",
} as const;
/** The user as returned by the account routes. */
export const Account: RecordSchema<typeof account> = record(account, "AccountUser");

export function accountOf({ identity, email, username, isVerified }: AccountUser): {
  readonly id: string;
  readonly email: string;
  readonly username: string;
  readonly email_verified: boolean;
} {
  return { id: identity, email, username, email_verified: isVerified };
}
