import type { Preset } from "portico";
import { authentication, consoleMailer, github, type Mailer } from "portico/auth";
import { settings } from "../settings.ts";
import { accountEvents } from "./account-events.ts";
import { User } from "./user.ts";

/**
 * Sessions for browsers, tokens for apps, API keys for programs, and the routes under /account: registration, login,
 * passkeys, token refresh, devices, API keys and password changes. Admins can act as readers. The pages at /sign-in, /account and /new-password use them.
 */
export function signIn(mailer: Mailer = consoleMailer()): Preset {
  return authentication({
    userModel: User,
    secret: settings.secret,
    audience: "bookshop",
    mailer,
    onEvent: accountEvents.record,
    resetPage: "/new-password",
    passkeys: { rpName: "Bookshop" },
    providers: settings.github === null ? [] : [github(settings.github)],
    impersonation: { permission: "act:as-users" },
    pages: true,
  });
}
