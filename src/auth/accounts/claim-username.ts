import { isInstance } from "../../core/describe-error.ts";
import type { HttpContext } from "../../kernel/context/http-context.ts";
import { discard } from "../../stores/revoke.ts";
import { sha256 } from "../records/sha256.ts";
import type { AccountUser } from "../users/account-model.ts";
import { UserExists } from "../users/user-exists.ts";
import type { AccountBase } from "./account-base.ts";

/** How long a user who has not verified the address yet can still get the username: 30 days. */
const WANTED_MS = 30 * 86_400_000;

/** Remembers the username that a user gets once the address is verified. It stays free until then. */
export async function wantUsername(
  ctx: HttpContext,
  accounts: AccountBase,
  { identity }: AccountUser,
  username: string,
): Promise<void> {
  await accounts.store(ctx).set(keyOf(identity), username, WANTED_MS);
}

/** Gives the user the username from the registration, unless another user has got it in the meantime. */
export async function claimUsername(ctx: HttpContext, accounts: AccountBase, user: AccountUser): Promise<void> {
  const key = keyOf(user.identity);
  const username = await accounts.store(ctx).get(key);
  if (username === null) return;
  try {
    await accounts.options.userModel.objects.setUsername?.(user, username);
  } catch (error) {
    if (!isInstance(error, UserExists)) throw error;
    ctx.log.info({ user: user.identity }, "the username of a registration was taken before its address was verified");
  }
  await discard(accounts.store(ctx), key);
}

function keyOf(identity: string): string {
  return `wanted-username:${sha256(identity)}`;
}
