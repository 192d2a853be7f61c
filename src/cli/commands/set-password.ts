import { type Result, sentence } from "../output/result.ts";
import { findUser } from "../project/find-user.ts";
import { keysOf } from "../project/keys-of.ts";
import type { Call } from "../runner.ts";
import { newPassword } from "./new-password.ts";
import { userData } from "./user-data.ts";
import { endSessions } from "./user-sessions.ts";

interface PasswordFlags {
  readonly keepKeys?: boolean;
}

/** `portico user password` */
export async function setPassword({ project, options, askPassword, words }: Call<PasswordFlags>): Promise<Result> {
  const { keepKeys = false } = options;
  // Before anything is changed: without the stores, keys and links would stay valid.
  const stores = keepKeys ? null : await project.stores();
  const user = await findUser(project, words[0] ?? "");
  const { objects } = await project.users();
  await objects.setPassword(user, await newPassword(askPassword, [user.email, user.username]));
  if (stores !== null) {
    const { emailTokens, resetTokens } = await import("../../auth/accounts/one-time-tokens.ts");
    await endSessions(stores, user.id);
    await resetTokens(stores.durable).revoke(user.id);
    await emailTokens(stores.durable).revoke(user.id);
    await (await keysOf(project)).revokeAll(user);
  }
  const text = `changed the password of ${user.username}, who has to sign in again`;
  const hints = keepKeys ? ["API keys and links to reset the password are still valid."] : [];
  return sentence(text, userData(await findUser(project, user.email)), hints);
}
