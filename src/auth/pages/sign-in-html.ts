import { escapeHtml } from "../../http/html/escape-html.ts";
import { fillText } from "../../http/html/fill-text.ts";
import type { PageTexts } from "../../http/html/page-texts.ts";
import { providerTitle } from "../accounts/provider-title.ts";
import { type FormField, formHtml, linkHtml, sectionHtml } from "./form-html.ts";
import type { PageSite } from "./page-site.ts";
import { emailField } from "./register-html.ts";

/** Every way to sign in that the application has. */
export function signInHtml(site: PageSite): string {
  const { options, has, link, texts } = site;
  const { signIn } = texts;
  return [
    has("login") ? passwordHtml(texts) : "",
    has("reset") ? linkHtml(link(options.resetPage), signIn.forgot) : "",
    options.passkeys !== undefined && has("factors") ? formHtml("passkey-sign-in", signIn.passkey) : "",
    options.providers.length > 0 && has("providers") ? providersHtml(site) : "",
    options.signInMails && has("sign-in-mails") ? mailHtml(texts) : "",
    has("register") ? linkHtml(link(options.registerPage), signIn.register) : "",
  ].join("\n");
}

/** The second step of a sign-in. */
export function secondFactorHtml({ options, link, texts }: PageSite): string {
  const { secondFactor, fields } = texts;
  return [
    formHtml("second-factor", secondFactor.submit, [{ ...codeField(fields.codeFromApp), isFocused: true }]),
    options.passkeys === undefined ? "" : formHtml("second-passkey", secondFactor.passkey),
    linkHtml(link(options.signInPage), secondFactor.otherWay),
  ].join("\n");
}

export function codeField(label: string): FormField {
  return { name: "code", label, autocomplete: "one-time-code" };
}

function passwordHtml({ signIn, fields }: PageTexts): string {
  return formHtml("login", signIn.submit, [
    { name: "identifier", label: signIn.name, autocomplete: "username", isFocused: true },
    { name: "password", label: fields.password, type: "password", autocomplete: "current-password" },
    rememberField(fields),
  ]);
}

function rememberField({ remember }: PageTexts["fields"]): FormField {
  return { name: "remember", label: remember, type: "checkbox", isOptional: true };
}

/** The script adds the path to continue at to each link. */
function providersHtml({ options, accounts, link, texts }: PageSite): string {
  const links = options.providers.map(({ name }) => {
    const href = escapeHtml(link(`${accounts}/providers/${name}`));
    const text = fillText(texts.signIn.provider, { provider: providerTitle(name) });
    return `<li><a class="button" data-provider href="${href}">${escapeHtml(text)}</a></li>`;
  });
  return `<ul class="buttons">\n${links.join("\n")}\n</ul>`;
}

function mailHtml(texts: PageTexts): string {
  const { signIn, fields } = texts;
  return sectionHtml(
    "mail",
    signIn.mailTitle,
    formHtml("sign-in-mail", signIn.sendMail, [emailField(texts), rememberField(fields)]),
    formHtml("sign-in-code", signIn.submitCode, [codeField(fields.codeFromEmail)], true),
  );
}
