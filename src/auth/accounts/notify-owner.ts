import type { HttpContext } from "../../http/context/http-context.ts";
import type { AccountUser } from "../users/account-model.ts";
import type { AccountEventKind } from "./account-event.ts";
import type { Accounts } from "./accounts.ts";
import type { Mail } from "./mailer.ts";

/** An event that the owner of the account is notified of. */
type Notice = Pick<Mail, "provider"> & { readonly kind: Extract<Mail["kind"], AccountEventKind> };

/** Sends the owner of an account an email about a change to it, after the response. */
export function notifyOwner(
  ctx: HttpContext,
  accounts: Accounts,
  { email, identity, isVerified }: AccountUser,
  mail: Notice,
): void {
  accounts.mailLater(ctx, async () => {
    // An unverified address may belong to a stranger, who must not be flooded. A verified one gets every notice.
    const isWanted = isVerified || (await accounts.mayBeMailed(ctx, "notices", identity));
    return isWanted ? { ...mail, to: email, url: null } : null;
  });
}

/** Reports the change as an event, and sends the owner the email. */
export function reportToOwner(ctx: HttpContext, accounts: Accounts, user: AccountUser, mail: Notice): void {
  accounts.report(ctx, mail.kind, user.identity);
  notifyOwner(ctx, accounts, user, mail);
}
