import { Brand } from "../../http/html/brand.ts";
import { escapeHtml } from "../../http/html/escape-html.ts";
import { htmlPage } from "../../http/html/html-page.ts";
import { PAGE_STYLE } from "../../http/html/page-style.ts";
import type { AccessWarning } from "../surface/warnings-of.ts";
import type { AccessChange } from "./access-file.ts";
import { accessSummary, countsText, placeText, resultText } from "./access-summary.ts";
import type { AccessRow } from "./access-table.ts";

/** The content of a page for an auditor. */
export interface AccessPage {
  readonly title: string;
  readonly rows: readonly AccessRow[];
  readonly warnings: readonly AccessWarning[];
  readonly roles: readonly string[];
  /** The differences from the committed file. */
  readonly changes: readonly AccessChange[];
}

const STYLE = `main{max-width:none!important}section{overflow-x:auto}table{border-collapse:collapse;width:100%;font-size:.9rem}
th,td{padding:.4rem .6rem;border-bottom:1px solid var(--line);text-align:left;vertical-align:top;overflow-wrap:normal}
td:first-child{font-family:ui-monospace,monospace;overflow-wrap:anywhere;min-width:14rem}tr:last-child td{border-bottom:0}`;

/** The access table as one HTML page, which loads nothing. */
export function accessHtml({ title, rows, warnings, roles, changes }: AccessPage): string {
  const summary = accessSummary(rows);
  const own = rows.filter(({ isBuiltIn }) => !isBuiltIn);
  const builtIn = rows.filter(({ isBuiltIn }) => isBuiltIn);
  return htmlPage({
    title: `Access: ${title}`,
    head: `<style>${PAGE_STYLE}</style>\n<style>${new Brand("", {}).style}${STYLE}</style>`,
    attributes: ' class="wide"',
    body: `<main>
<h1>Access: ${escapeHtml(title)}</h1>
<p><strong>${countsText(summary.all)}.</strong></p>
<p>This application: ${countsText(summary.own)}.</p>
${listHtml("Open to anyone", summary.openPlaces)}
${listHtml("Open to anyone, and writes", summary.openWrites)}
${listHtml("Every signed-in user writes", summary.signedInWrites)}
${sentencesHtml("Changed since the last review", changes)}
${sentencesHtml("Warnings", warnings)}
${tableHtml("Places of this application", own, roles)}
${tableHtml("Places of Portico", builtIn, roles)}
</main>`,
  });
}

function listHtml(title: string, places: readonly string[]): string {
  const listed = places.length === 0 ? "none" : places.map((place) => `<code>${escapeHtml(place)}</code>`).join(", ");
  return `<p>${title}: ${listed}</p>`;
}

function sentencesHtml(title: string, found: readonly (AccessChange | AccessWarning)[]): string {
  if (found.length === 0) return "";
  const sentences = found.map((one) => ("change" in one ? one.sentence : `${one.place} ${one.sentence}`));
  return `<section><h2>${title}</h2><ul>${sentences.map((text) => `<li>${escapeHtml(text)}</li>`).join("")}</ul></section>`;
}

function tableHtml(title: string, rows: readonly AccessRow[], roles: readonly string[]): string {
  const heads = ["Place", "Gate", "Anonymous", "Signed in", ...(roles.length === 0 ? ["With permission"] : roles)];
  const lines = rows.map((row) => {
    const results = [row.anonymous, row.signedIn].map((text) => resultText(text, row));
    const others =
      roles.length === 0
        ? [row.grants.join("; ") || "-"]
        : roles.map((role) => resultText(row.roles[role] ?? "-", row));
    const cells = [placeText(row), row.gate, ...results, ...others];
    return `<tr>${cells.map((cell) => `<td>${escapeHtml(cell)}</td>`).join("")}</tr>`;
  });
  return `<section tabindex="0" aria-label="${title}"><h2>${title}</h2>
<table><thead><tr>${heads.map((head) => `<th scope="col">${escapeHtml(head)}</th>`).join("")}</tr></thead>
<tbody>
${lines.join("\n")}
</tbody></table></section>`;
}
