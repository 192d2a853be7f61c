import { randomBytes } from "node:crypto";
import { isProduction } from "../../../core/env.ts";
import type { HttpContext } from "../../../kernel/context/http-context.ts";
import type { PasskeyCall } from "../../factors/passkeys.ts";
import { BrowserCookie } from "../../sessions/browser-cookie.ts";
import type { KnownPasskeys } from "../account-base.ts";
import type { Accounts } from "../ownership/accounts.ts";

/** Binds a challenge for a sign-in to the browser that requested it. */
const cookie = new BrowserCookie("__Host-portico_passkey", 300);

/** The call of a known user. Its challenges are bound to the pending sign-in if there is one, else to the session. */
export function passkeyCall(
  ctx: HttpContext,
  accounts: Accounts,
  passkeys: KnownPasskeys,
  pending?: string,
): PasskeyCall {
  const { id = "" } = ctx.identity.credential ?? {};
  return callOf(ctx, accounts, passkeys, pending === undefined ? id : `pending:${pending}`);
}

/** The call of an anonymous browser, which gets a cookie for its challenge. */
export function newBrowserCall(ctx: HttpContext, accounts: Accounts, passkeys: KnownPasskeys): PasskeyCall {
  return callOf(ctx, accounts, passkeys, `browser:${cookie.renew(ctx)}`);
}

/** The second call of an anonymous browser. Deletes the cookie, which is valid once like its challenge. */
export function browserCall(ctx: HttpContext, accounts: Accounts, passkeys: KnownPasskeys): PasskeyCall {
  const browser = cookie.read(ctx) ?? randomBytes(32).toString("base64url");
  cookie.forget(ctx);
  return callOf(ctx, accounts, passkeys, `browser:${browser}`);
}

function callOf(ctx: HttpContext, accounts: Accounts, { options }: KnownPasskeys, bound: string): PasskeyCall {
  const { rpId, origins } = options;
  const store = accounts.store(ctx);
  if (rpId !== undefined && origins !== undefined) return { store, rpId, origins, bound };
  const url = new URL(ownUrl(ctx));
  return { store, rpId: rpId ?? url.hostname, origins: origins ?? [url.origin], bound };
}

/** The app's own URL, never one from the `Host` header. Browsers have no passkeys for IP addresses. */
function ownUrl({ services }: HttpContext): string {
  if (services.publicUrl !== null) return services.publicUrl;
  if (isProduction())
    throw new Error("passkeys require the app's publicUrl option, or rpId and origins, in production");
  const { port } = new URL(services.listensOn() ?? "http://localhost");
  return `http://localhost${port === "" ? "" : `:${port}`}`;
}
