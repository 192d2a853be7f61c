import { byId } from "../elements.ts";
import { query } from "./page.ts";

const MESSAGES: Readonly<Record<string, string>> = {
  email_not_verified: "Confirm your email address first.",
  provider_already_linked: "The provider's account is linked to another user, or you have linked another one.",
  provider_denied: "The sign-in was cancelled.",
  provider_email_not_verified: "Verify your email address at the provider first.",
  provider_email_refused: "Sign in with an account of your organization.",
  provider_link_required:
    "You already have an account with this email address. Sign in another way, then link the provider on your account page.",
  provider_unavailable: "The provider is unavailable. Try again later, or sign in another way.",
  second_factor_required: "",
  sign_in_again: "Sign in again to continue.",
  sign_in_expired: "The sign-in took too long. Sign in again.",
  unauthenticated: "Sign in to continue.",
};

const code = query.get("error");
if (code !== null) showNotice(MESSAGES[code] ?? "Signing in failed. Try again.");

/** Shows a message above the content of the page. */
export function showNotice(message: string): void {
  const notice = byId("notice");
  notice.textContent = message;
  if (message !== "") notice.focus();
}
