import type { PageTexts } from "../../http/html/page-texts.ts";
import { type FormField, formHtml, linkHtml } from "./form-html.ts";
import type { PageSite } from "./page-site.ts";

export function emailField({ fields }: PageTexts): FormField {
  return { name: "email", label: fields.email, type: "email", autocomplete: "email" };
}

export function newPasswordField(label: string): FormField {
  return { name: "password", label, type: "password", autocomplete: "new-password" };
}

export function registerHtml({ options, link, texts }: PageSite): string {
  const { register, fields } = texts;
  const form = formHtml("register", register.submit, [
    { ...emailField(texts), isFocused: true },
    { name: "username", label: register.username, autocomplete: "username", isOptional: true },
    newPasswordField(fields.password),
  ]);
  return [form, linkHtml(link(options.signInPage), register.signIn)].join("\n");
}
