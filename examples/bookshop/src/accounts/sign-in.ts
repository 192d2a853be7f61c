import type { Preset } from "portico";
import { authentication, consoleMailer, type Mailer } from "portico/auth";
import { settings } from "../settings.ts";
import { User } from "./user.ts";

/**
 * Sessions for browsers, tokens for apps, API keys for programs, and the routes under /account: registration, login,
 * token refresh, devices, API keys and password changes.
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
