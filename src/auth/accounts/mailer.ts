import { ConfigurationError } from "../../core/configuration-error.ts";
import { isProduction } from "../../core/env.ts";

/** A mail that an account needs. What it says is the application's; the link is a secret. */
export interface Mail {
  /** The address as it is stored, never as somebody typed it; of `change_email` the new one, of `email_changed` the old one. */
  readonly to: string;
  readonly kind: "reset" | "verify" | "change_email" | "already_registered" | "password_changed" | "email_changed";
  /** Where the link leads, with its token; `null` for mails that only tell something. */
  readonly url: string | null;
}

/** Sends mails. It runs after the answer, so that time does not tell whether there was one to send. */
export type Mailer = (mail: Mail) => Promise<void>;

/**
 * Prints mails instead of sending them: to start with. Throws `ConfigurationError` in production.
 *
 * @example
 * ```ts
 * import { consoleMailer } from "portico/auth";
 *
 * await consoleMailer()({ to: "ann@example.org", kind: "reset", url: "http://127.0.0.1:3000/reset?token=..." });
 * ```
 */
export function consoleMailer(): Mailer {
  if (isProduction())
    throw new ConfigurationError("consoleMailer", "prints mails instead of sending them: it is not for production");
  return async ({ to, kind, url }) => {
    process.stdout.write(`mail to ${to}: ${kind}${url === null ? "" : ` ${url}`}\n`);
  };
}
