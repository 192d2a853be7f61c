import { escapeHtml } from "../../http/html/escape-html.ts";
import { formHtml, linkHtml, sectionHtml } from "./form-html.ts";
import type { PageSite } from "./page-site.ts";
import { providerTitle } from "./sign-in-html.ts";

/** The signed-in user's account. The script fetches the data. */
export function accountHtml(site: PageSite): string {
  const { options, has } = site;
  return [
    `<p>Signed in as <strong id="who"></strong> (<span id="address"></span>)</p>`,
    has("logout") ? formHtml("logout", "Sign out") : "",
    has("verify") ? verifyHtml() : "",
    `<section id="recovery" aria-labelledby="recovery-title" hidden>
<h2 id="recovery-title" tabindex="-1">Recovery codes</h2>
<p>Store these codes now: they are not shown again. Each of them signs you in once if you lose your second factor.</p>
<ul id="recovery-list"></ul>
</section>`,
    has("sessions") ? sectionHtml("sessions", "Devices", `<ul id="sessions-list"></ul>`, everywhereHtml(site)) : "",
    has("password") ? passwordHtml(site) : "",
    has("email") ? emailHtml() : "",
    has("factors") ? totpHtml() : "",
    has("factors") && options.passkeys !== undefined ? passkeysHtml() : "",
    has("providers") && options.providers.length > 0 ? providersHtml(site) : "",
  ].join("\n");
}

/** Shown while the address is not verified. */
function verifyHtml(): string {
  const code = { name: "code", label: "Code from the email", autocomplete: "one-time-code" };
  return [
    formHtml("send-code", "Send me a code to confirm my email address", [], true),
    formHtml("enter-code", "Confirm my email address", [code], true),
  ].join("\n");
}

function everywhereHtml({ has }: PageSite): string {
  return has("logout") ? formHtml("everywhere", "Sign out on all devices") : "";
}

function passwordHtml({ options, has, link }: PageSite): string {
  return sectionHtml(
    "password",
    "Password",
    formHtml("change-password", "Change the password", [
      { name: "current_password", label: "Current password", type: "password", autocomplete: "current-password" },
      { name: "new_password", label: "New password", type: "password", autocomplete: "new-password" },
    ]),
    has("reset") ? linkHtml(link(options.resetPage), "No password yet, or forgotten?") : "",
  );
}

function emailHtml(): string {
  const field = { name: "email", label: "New email address", type: "email", autocomplete: "email" } as const;
  return sectionHtml("email", "Email address", formHtml("change-email", "Change the email address", [field]));
}

function totpHtml(): string {
  return sectionHtml(
    "totp",
    "Authenticator app",
    `<p id="totp-state"></p>`,
    formHtml("totp-begin", "Set up an authenticator app", [], true),
    `<div id="totp-secret" hidden>
<p>Scan the image with the app, or type the key. Then enter the code that the app shows.</p>
<p><img id="totp-qr" alt="QR code of the key"></p>
<p>Key: <code id="totp-key"></code></p>
</div>`,
    formHtml("totp-confirm", "Confirm", [{ name: "code", label: "Code", autocomplete: "one-time-code" }], true),
    formHtml("totp-remove", "Remove the authenticator app", [], true),
    formHtml("recovery-renew", "Replace the recovery codes", [], true),
  );
}

function passkeysHtml(): string {
  const name = { name: "name", label: "Name of the new passkey (optional)", isOptional: true };
  return sectionHtml(
    "passkeys",
    "Passkeys",
    `<ul id="passkeys-list"></ul>`,
    formHtml("add-passkey", "Add a passkey", [name]),
  );
}

function providersHtml({ options }: PageSite): string {
  const rows = options.providers.map(
    ({ name }) => `<li data-provider-link="${escapeHtml(name)}">${escapeHtml(providerTitle(name))} </li>`,
  );
  return sectionHtml("providers", "Linked providers", `<ul>\n${rows.join("\n")}\n</ul>`);
}
