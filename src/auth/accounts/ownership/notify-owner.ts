import type { HttpContext } from "../../../kernel/context/http-context.ts";
import type { AccountUser } from "../../users/account-model.ts";
import type { AccountEventKind } from "../account-event.ts";
import type { Letter } from "../mail-sender.ts";
import type { Accounts } from "./accounts.ts";

/** An event that the owner of the account is notified of. */
type Notice = Pick<Letter, "provider"> & { readonly kind: Extract<Letter["kind"], AccountEventKind> };

/** Sends the owner of an account an email about a change to it, after the response. */
export function notifyOwner(ctx: HttpContext, accounts: Accounts, user: AccountUser, notice: Notice): void {
  accounts.mail.send(ctx, async () => ({ ...notice, to: user }));
}

/** Reports the change as an event, and sends the owner the email. */
export function reportToOwner(ctx: HttpContext, accounts: Accounts, user: AccountUser, notice: Notice): void {
  accounts.report(ctx, notice.kind, user.identity);
  notifyOwner(ctx, accounts, user, notice);
}
