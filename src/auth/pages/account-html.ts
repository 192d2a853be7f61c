import { escapeHtml } from "../../http/html/escape-html.ts";
import type { PageTexts } from "../../http/html/page-texts.ts";
import { providerTitle } from "../accounts/provider-title.ts";
import { formHtml, linkHtml, sectionHtml } from "./form-html.ts";
import type { PageSite } from "./page-site.ts";
import { codeField } from "./sign-in-html.ts";

/** The signed-in user's account. The script fetches the data. */
export function accountHtml(site: PageSite): string {
  const { options, has, texts } = site;
  const { account } = texts;
  return [
    `<p>${escapeHtml(account.signedInAs)} <strong id="who"></strong> (<span id="address"></span>)</p>`,
    has("logout") ? formHtml("logout", account.signOut) : "",
    has("verify") ? verifyHtml(texts) : "",
    `<section id="recovery" aria-labelledby="recovery-title" hidden>
<h2 id="recovery-title" tabindex="-1">${escapeHtml(account.recoveryTitle)}</h2>
<p>${escapeHtml(account.recoveryText)}</p>
<ul id="recovery-list"></ul>
</section>`,
    has("sessions")
      ? sectionHtml("sessions", account.devicesTitle, `<ul id="sessions-list"></ul>`, everywhereHtml(site))
      : "",
    has("password") ? passwordHtml(site) : "",
    has("email") ? emailHtml(texts) : "",
    has("factors") ? totpHtml(texts) : "",
    has("factors") && options.passkeys !== undefined ? passkeysHtml(texts) : "",
    has("providers") && options.providers.length > 0 ? providersHtml(site) : "",
  ].join("\n");
}

/** Shown while the address is not verified. */
function verifyHtml({ account, fields }: PageTexts): string {
  return [
    formHtml("send-code", account.sendCode, [], true),
    formHtml("enter-code", account.confirmEmail, [codeField(fields.codeFromEmail)], true),
  ].join("\n");
}

function everywhereHtml({ has, texts }: PageSite): string {
  return has("logout") ? formHtml("everywhere", texts.account.signOutEverywhere) : "";
}

function passwordHtml({ options, has, link, texts }: PageSite): string {
  const { account, fields } = texts;
  return sectionHtml(
    "password",
    account.passwordTitle,
    formHtml("change-password", account.changePassword, [
      { name: "current_password", label: fields.currentPassword, type: "password", autocomplete: "current-password" },
      { name: "new_password", label: fields.newPassword, type: "password", autocomplete: "new-password" },
    ]),
    has("reset") ? linkHtml(link(options.resetPage), account.noPassword) : "",
  );
}

function emailHtml({ account }: PageTexts): string {
  const field = { name: "email", label: account.newEmail, type: "email", autocomplete: "email" } as const;
  return sectionHtml("email", account.emailTitle, formHtml("change-email", account.changeEmail, [field]));
}

function totpHtml({ account, fields }: PageTexts): string {
  return sectionHtml(
    "totp",
    account.appTitle,
    `<p id="totp-state"></p>`,
    formHtml("totp-begin", account.setUpApp, [], true),
    `<div id="totp-secret" hidden>
<p>${escapeHtml(account.scan)}</p>
<p><img id="totp-qr" alt="${escapeHtml(account.qr)}"></p>
<p>${escapeHtml(account.key)} <code id="totp-key"></code></p>
</div>`,
    formHtml("totp-confirm", account.confirmApp, [codeField(fields.code)], true),
    formHtml("totp-remove", account.removeApp, [], true),
    formHtml("recovery-renew", account.replaceCodes, [], true),
  );
}

function passkeysHtml({ account, messages }: PageTexts): string {
  const name = { name: "name", label: account.passkeyName, isOptional: true };
  return sectionHtml(
    "passkeys",
    account.passkeysTitle,
    `<p id="passkeys-none" class="quiet" hidden>${escapeHtml(messages.noPasskeys)}</p>
<ul id="passkeys-list"></ul>`,
    formHtml("add-passkey", account.addPasskey, [name]),
  );
}

function providersHtml({ options, texts }: PageSite): string {
  const rows = options.providers.map(
    ({ name }) => `<li data-provider-link="${escapeHtml(name)}">${escapeHtml(providerTitle(name))} </li>`,
  );
  return sectionHtml("providers", texts.account.providersTitle, `<ul>\n${rows.join("\n")}\n</ul>`);
}
