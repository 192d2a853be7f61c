import type { HttpContext } from "../../../kernel/context/http-context.ts";
import { HttpException } from "../../../kernel/exceptions/http-exception.ts";
import { PermissionDenied } from "../../../kernel/exceptions/permission-denied.ts";
import type { AccountBase, AccountHolder } from "../account-base.ts";
import { isProved } from "./is-proved.ts";
import { type GatedOperation, LASTING, RULES } from "./lasting.ts";
import { requireFreshSignIn } from "./require-fresh-sign-in.ts";
import { requireLevel } from "./require-level.ts";

/** Lets a route change the lasting credentials of the caller. Only `credentialGate` makes one. */
class CredentialGrant {
  readonly user: AccountHolder;

  constructor(user: AccountHolder) {
    this.user = user;
  }
}

export type { CredentialGrant };

/**
 * The gate of every route that makes or changes a lasting credential, by the rule of the route in `LASTING`: a recent
 * sign-in or the password, two factors if the user has a second one, and an account whose owner is known. API keys never
 * pass.
 */
export async function credentialGate(
  ctx: HttpContext,
  accounts: AccountBase,
  operation: GatedOperation,
  password?: string,
): Promise<CredentialGrant> {
  const rule = RULES[LASTING[operation]];
  const user = ctx.user as AccountHolder;
  if (ctx.scope.auth === "apikey")
    throw new PermissionDenied("API keys cannot be used to create API keys. Sign in with a session or token.");
  if (rule.isFresh) await requireFreshSignIn(ctx, accounts, user, password);
  await requireLevel(ctx, accounts, user.identity);
  if (rule.isOwned) requireOwner(accounts, user);
  return new CredentialGrant(user);
}

/** Without a mailer there is neither a code nor a reset, so that no owner of the mailbox could come. */
function requireOwner({ options }: AccountBase, user: AccountHolder): void {
  if (isProved(user) || !options.isMailed) return;
  throw new HttpException(
    403,
    "Verify your email address first. POST /verify/request sends a code to it, and POST /verify takes the code.",
    { code: "EMAIL_NOT_VERIFIED" },
  );
}
