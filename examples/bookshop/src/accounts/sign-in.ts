import type { Preset } from "portico";
import { authentication, consoleMailer, type Mailer } from "portico/auth";
import { settings } from "../settings.ts";
import { User } from "./user.ts";

/**
 * Sessions for browsers, tokens for apps, API keys for programs, and the routes below /account: register, log in, refresh,
 * devices, keys, a new password.
 */
export function signIn(mailer: Mailer = consoleMailer()): Preset {
  return authentication({
    userModel: User,
    secret: settings.secret,
    audience: "bookshop",
    mailer,
    resetPage: "/new-password",
  });
}
