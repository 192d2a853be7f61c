import type { Brand } from "../../http/html/brand.ts";
import { escapeHtml } from "../../http/html/escape-html.ts";
import { fillText } from "../../http/html/fill-text.ts";
import type { Mail, MailContent } from "./mailer.ts";
import { providerTitle } from "./provider-title.ts";

/** The kinds whose reader caused them: without the request, there is nothing to do. */
const ASKED_FOR: ReadonlySet<Mail["kind"]> = new Set(["reset", "verify", "change_email", "sign_in"]);

/** Writes an email. */
export function mailContent(mail: Mail, brand: Brand): MailContent {
  const { kind, url, code, device = "", provider = "" } = mail;
  const { mails, language } = brand.texts;
  const words: { readonly subject: string; readonly text: string; readonly action?: string } = mails[kind];
  const text = fillText(words.text, { device, provider: providerTitle(provider) });
  const closing = ASKED_FOR.has(kind) ? mails.ignore : mails.notYou;
  const title = brand.name === "" ? words.subject : `${brand.name}: ${words.subject}`;
  return {
    subject: title,
    text: [text, url ?? [], code === undefined ? [] : `${mails.code} ${code}`, closing].flat().join("\n\n"),
    html: `<!doctype html>
<html lang="${escapeHtml(language)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
<style>@media (prefers-color-scheme: dark) { body, .page { background: #121519 !important; color: #eceef1 !important } .card { background: #1b1f25 !important; border-color: #363d48 !important } .quiet { color: #a3adba !important } }</style>
</head>
<body class="page" style="margin:0;padding:32px 16px;background:#f4f5f7;color:#1a1e24;font:16px/1.5 system-ui,-apple-system,'Segoe UI',sans-serif">
<div style="max-width:416px;margin:0 auto">
${brand.name === "" ? "" : `<p style="margin:0 0 16px;font-weight:600">${escapeHtml(brand.name)}</p>\n`}<div class="card" style="padding:28px;border:1px solid #d5dae1;border-radius:12px;background:#fff">
<h1 style="margin:0 0 16px;font-size:22px;line-height:1.25">${escapeHtml(words.subject)}</h1>
<p style="margin:0 0 20px">${escapeHtml(text)}</p>
${url === null ? "" : linkHtml(brand, url, words.action ?? words.subject)}${code === undefined ? "" : codeHtml(mails.code, code)}<p class="quiet" style="margin:0;color:#566070;font-size:14px">${escapeHtml(closing)}</p>
</div>
</div>
</body>
</html>
`,
  };
}

/** The address stands below the button, for readers whose mail program shows no button. */
function linkHtml({ accent, onAccent }: Brand, url: string, action: string): string {
  const href = escapeHtml(url);
  return `<p style="margin:0 0 12px"><a href="${href}" style="display:block;padding:10px 16px;border-radius:6px;background:${accent};color:${onAccent};text-align:center;text-decoration:none;font-weight:600">${escapeHtml(action)}</a></p>
<p class="quiet" style="margin:0 0 20px;color:#566070;font-size:13px;word-break:break-all">${href}</p>
`;
}

function codeHtml(label: string, code: string): string {
  return `<p style="margin:0 0 4px">${escapeHtml(label)}</p>
<p style="margin:0 0 20px;font:600 24px ui-monospace,monospace;letter-spacing:2px">${escapeHtml(code)}</p>
`;
}
