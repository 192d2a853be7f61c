import { formHtml, linkHtml } from "./form-html.ts";
import type { PageSite } from "./page-site.ts";
import { EMAIL_FIELD, NEW_PASSWORD_FIELD } from "./register-html.ts";

/** The reason for an email with a link. */
export type MailLinkKind = "reset" | "verify" | "email" | "sign-in";

/**
 * The page that a link in an email opens. It waits for a click, because mail scanners open links. Without a token, the
 * pages for a password reset and for the email address send a new link.
 */
export function mailLinkHtml({ options, link }: PageSite, kind: MailLinkKind, hasToken: boolean): string {
  return [FORMS[kind](hasToken), linkHtml(link(options.signInPage), "Go to the sign-in page")].join("\n");
}

const FORMS: Readonly<Record<MailLinkKind, (hasToken: boolean) => string>> = {
  reset: (hasToken) =>
    hasToken
      ? formHtml("reset", "Set the password", [{ ...NEW_PASSWORD_FIELD, isFocused: true }])
      : formHtml("reset-request", "Send me a link", [EMAIL_FIELD]),
  verify: (hasToken) =>
    hasToken
      ? formHtml("verify", "Confirm my email address")
      : formHtml("verify-request", "Send me a link", [EMAIL_FIELD]),
  email: () => formHtml("email-confirm", "Change my email address"),
  "sign-in": () => formHtml("sign-in-link", "Sign in"),
};
