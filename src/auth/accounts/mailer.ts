import { ConfigurationError } from "../../core/configuration-error.ts";
import { isProduction } from "../../core/env.ts";
import type { DeviceLabel } from "../sessions/device-label.ts";

/** An email about an account. The link is a secret. */
export interface Mail {
  /**
   * The stored address, never the one in the request. `change_email` goes to the new address, `email_changed` to the
   * old one.
   */
  readonly to: string;
  readonly kind:
    | "reset"
    | "verify"
    | "change_email"
    | "already_registered"
    | "password_changed"
    | "email_changed"
    | "sign_in"
    | "new_device"
    | "second_factor_enrolled"
    | "second_factor_removed"
    | "second_factors_reset"
    | "passkey_added"
    | "passkey_removed"
    | "recovery_code_used"
    | "recovery_codes_created"
    | "provider_linked"
    | "provider_unlinked";
  /** The link with its token, or `null` for a notice without a link. */
  readonly url: string | null;
  /**
   * For `sign_in`: the code to type in the browser that asked for the email. For `verify`: the code for the account that
   * a browser or an app is signed in to. It is a secret as well.
   */
  readonly code?: string;
  /** For `new_device`: the name of the device, such as "Firefox on Linux". */
  readonly device?: DeviceLabel;
  /** For `provider_linked` and `provider_unlinked`: the name of the provider. */
  readonly provider?: string;
}

/** The words of an email, with the name, the colour and the texts of the application. */
export interface MailContent {
  readonly subject: string;
  readonly text: string;
  /** The text as an HTML page that loads nothing. */
  readonly html: string;
}

/**
 * Sends emails, with the words that Portico has written in the texts and the colours of the application, or with others. It runs
 * after the response, so that the timing does not reveal whether an email was sent.
 *
 * @example
 * ```ts
 * import type { Mailer } from "portico/auth";
 *
 * declare function send(mail: { to: string; subject: string; text: string; html: string }): Promise<void>;
 *
 * const mailer: Mailer = ({ to }, content) => send({ to, ...content });
 * ```
 */
export type Mailer = (mail: Mail, content: MailContent) => Promise<void>;

/**
 * Prints emails instead of sending them, for development. Throws `ConfigurationError` in production.
 *
 * @example
 * ```ts
 * import { consoleMailer } from "portico/auth";
 *
 * await consoleMailer()({ to: "ann@example.org", kind: "reset", url: "http://127.0.0.1:3000/reset?token=..." });
 * ```
 */
export function consoleMailer(): (mail: Mail) => Promise<void> {
  if (isProduction())
    throw new ConfigurationError(
      "consoleMailer",
      "must not be used in production: it prints emails instead of sending them",
    );
  return async ({ to, kind, url, code }) => {
    const secrets = [url ?? [], code ?? []].flat();
    process.stdout.write(`mail to ${to}: ${[kind, ...secrets].join(" ")}\n`);
  };
}
