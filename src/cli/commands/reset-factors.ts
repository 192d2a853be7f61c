import type { ResolvedAccountOptions } from "../../auth/accounts/account-options.ts";
import { mailContent } from "../../auth/accounts/mail-content.ts";
import { PendingSignIns } from "../../auth/accounts/pending-sign-ins.ts";
import { removeFactors } from "../../auth/factors/remove-factors.ts";
import type { Brand } from "../../http/html/brand.ts";
import { CommandFailed } from "../output/command-failed.ts";
import { type Result, sentence } from "../output/result.ts";
import { sentenceOf } from "../output/sentence-of.ts";
import { accountOptionsOf } from "../project/account-options-of.ts";
import { findUser } from "../project/find-user.ts";
import { type Confirmable, confirmed } from "./confirmed.ts";
import type { Call } from "./runner.ts";
import { endSessions } from "./user-sessions.ts";

/**
 * `portico user reset-factors`. It signs the user out everywhere: the lost phone may be signed in, and a
 * session with two factors would outlive the factor that it was started with.
 */
export async function resetFactors(call: Call<Confirmable>): Promise<Result> {
  const { project, words } = call;
  const stores = await project.stores();
  const account = await accountOptionsOf(project);
  const user = await findUser(project, words[0] ?? "");
  await confirmed(
    call,
    `This removes all second factors of ${user.username}, who can then sign in with the password alone.`,
  );
  const store = account?.store ?? stores.durable;
  const removed = await removeFactors(store, user.id);
  if (removed === null) throw new CommandFailed(`${user.username} has no second factor`);
  await (await project.users()).objects.renewCredentials(user);
  await endSessions(stores, user.id);
  await new PendingSignIns(store).revoke(user.id);
  const { totp, passkeys = [], recovery } = removed;
  const data = { totp: totp !== undefined, passkeys: passkeys.length, recoveryCodes: recovery.length };
  const text = `removed the second factors of ${user.username}, who has to sign in again`;
  return sentence(
    text,
    data,
    account === null ? [UNNOTIFIED] : await notify(account, (await project.app()).brand, user),
  );
}

const UNNOTIFIED =
  "The user gets no email and onEvent is not called: both need portico.config.ts with an application that uses authentication().";

/** Reports the event, and sends the owner an email. Returns what failed: the factors are removed already. */
async function notify(
  { mailer, onEvent }: ResolvedAccountOptions,
  brand: Brand,
  { id, email }: { readonly id: string; readonly email: string },
): Promise<readonly string[]> {
  const kind = "second_factors_reset";
  const at = new Date();
  const mail = { to: email, kind, url: null } as const;
  const event = { kind, outcome: "success", user: id, actor: "operator", at, address: "", device: "portico" } as const;
  const results = await Promise.allSettled([
    Promise.resolve(event).then((reported) => onEvent?.(Object.freeze(reported))),
    mailer(mail, mailContent(mail, brand)),
  ]);
  return results.flatMap((result, index) =>
    result.status === "fulfilled"
      ? []
      : [`${index === 0 ? "onEvent failed" : "The email could not be sent"}: ${sentenceOf(result.reason)}`],
  );
}
