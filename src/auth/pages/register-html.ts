import { type FormField, formHtml, linkHtml } from "./form-html.ts";
import type { PageSite } from "./page-site.ts";

export const EMAIL_FIELD: FormField = {
  name: "email",
  label: "Email address",
  type: "email",
  autocomplete: "email",
  isFocused: true,
};
export const NEW_PASSWORD_FIELD: FormField = {
  name: "password",
  label: "New password",
  type: "password",
  autocomplete: "new-password",
};

export function registerHtml({ options, link }: PageSite): string {
  const form = formHtml("register", "Create an account", [
    EMAIL_FIELD,
    { name: "username", label: "Username (optional)", autocomplete: "username", isOptional: true },
    { ...NEW_PASSWORD_FIELD, label: "Password" },
  ]);
  return [form, linkHtml(link(options.signInPage), "Sign in")].join("\n");
}
