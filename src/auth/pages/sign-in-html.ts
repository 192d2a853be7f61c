import { escapeHtml } from "../../http/html/escape-html.ts";
import { type FormField, formHtml, linkHtml, sectionHtml } from "./form-html.ts";
import type { PageSite } from "./page-site.ts";

const REMEMBER: FormField = { name: "remember", label: "Keep me signed in", type: "checkbox", isOptional: true };

/** Every way to sign in that the application has. */
export function signInHtml(site: PageSite): string {
  const { options, has, link } = site;
  return [
    has("login") ? passwordHtml() : "",
    has("reset") ? linkHtml(link(options.resetPage), "Forgot your password?") : "",
    options.passkeys !== undefined && has("factors") ? formHtml("passkey-sign-in", "Sign in with a passkey") : "",
    options.providers.length > 0 && has("providers") ? providersHtml(site) : "",
    options.signInMails && has("sign-in-mails") ? mailHtml() : "",
    has("register") ? linkHtml(link(options.registerPage), "Create an account") : "",
  ].join("\n");
}

/** The second step of a sign-in, and the proof that an action requires. */
export function secondFactorHtml({ options, link }: PageSite): string {
  const code: FormField = {
    name: "code",
    label: "Code from your authenticator app, or a recovery code",
    autocomplete: "one-time-code",
    isFocused: true,
  };
  return [
    formHtml("second-factor", "Continue", [code]),
    options.passkeys === undefined ? "" : formHtml("second-passkey", "Use a passkey"),
    linkHtml(link(options.signInPage), "Sign in another way"),
  ].join("\n");
}

/** The name of a provider as people know it. */
export function providerTitle(name: string): string {
  return name === "github" ? "GitHub" : name.charAt(0).toUpperCase() + name.slice(1);
}

function passwordHtml(): string {
  return formHtml("login", "Sign in", [
    { name: "identifier", label: "Email address or username", autocomplete: "username", isFocused: true },
    { name: "password", label: "Password", type: "password", autocomplete: "current-password" },
    REMEMBER,
  ]);
}

/** The script adds the path to continue at to each link. */
function providersHtml({ options, accounts, link }: PageSite): string {
  const links = options.providers.map(({ name }) => {
    const href = escapeHtml(link(`${accounts}/providers/${name}`));
    return `<li><a data-provider href="${href}">Sign in with ${escapeHtml(providerTitle(name))}</a></li>`;
  });
  return `<ul>\n${links.join("\n")}\n</ul>`;
}

function mailHtml(): string {
  return sectionHtml(
    "mail",
    "Sign in by email",
    formHtml("sign-in-mail", "Send me an email", [
      { name: "email", label: "Email address", type: "email", autocomplete: "email" },
      REMEMBER,
    ]),
    formHtml(
      "sign-in-code",
      "Sign in with the code",
      [{ name: "code", label: "Code from the email", autocomplete: "one-time-code" }],
      true,
    ),
  );
}
