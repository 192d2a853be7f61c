import { escapeHtml } from "../../http/html/escape-html.ts";
import { formHtml, linkHtml } from "./form-html.ts";
import type { PageSite } from "./page-site.ts";
import { codeField } from "./sign-in-html.ts";

/**
 * Asks a signed-in user for the proof that an action needs. The script shows the forms that the user can fill in: a second
 * factor if there is one, otherwise the password for an action that needs a recent sign-in.
 */
export function stepUpHtml(site: PageSite): string {
  const { options, has, link, texts } = site;
  const { stepUp, fields } = texts;
  const password = {
    name: "password",
    label: fields.password,
    type: "password",
    autocomplete: "current-password",
  } as const;
  return [
    `<p id="who" class="quiet"></p>`,
    has("factors") ? formHtml("step-up-code", stepUp.code, [codeField(fields.codeFromApp)], true) : "",
    has("factors") && options.passkeys !== undefined ? formHtml("step-up-passkey", stepUp.passkey, [], true) : "",
    has("login") ? formHtml("step-up-password", stepUp.password, [password], true) : "",
    `<div id="no-factor" hidden>
<p>${escapeHtml(stepUp.noFactor)}</p>
${has("me") ? linkHtml(link(options.accountPage), stepUp.addFactor) : ""}
</div>`,
    linkHtml(link(options.signInPage), stepUp.otherWay),
  ].join("\n");
}
