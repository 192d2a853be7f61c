import { Brand } from "../../http/html/brand.ts";
import { escapeHtml } from "../../http/html/escape-html.ts";
import { sourceHash } from "../../http/html/html-headers.ts";
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
  /** The differences from the committed file; `null` without one. */
  readonly changes: readonly AccessChange[] | null;
}

const STYLE = `${PAGE_STYLE}${new Brand("", {}).style}main{max-width:none!important}
.glance{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(20rem,100%),1fr));gap:1.25rem}
.glance ul,.list{margin:.4rem 0 1rem}.glance section{margin-top:0}.glance p{margin:.2rem 0 .8rem}.glance li,.list li{border-top:0!important;padding:.1rem 0!important}
h3{margin:0;font-size:.9rem}.scroll{overflow-x:auto}table{border-collapse:collapse;width:100%;font-size:.9rem}
th,td{padding:.4rem .6rem;border-bottom:1px solid var(--line);text-align:left;vertical-align:top;overflow-wrap:normal}
th:first-child,td:first-child{padding-left:0}td:first-child{font-family:ui-monospace,monospace;overflow-wrap:anywhere;min-width:14rem}
td.no,small{color:var(--quiet)}tr:last-child td{border-bottom:0}`;

// The file may be opened from a disk, where no server sends a policy.
const POLICY = `default-src 'none'; style-src ${sourceHash(STYLE)}; img-src data:; base-uri 'none'; form-action 'none'`;

/** The access table as one HTML page, which loads nothing. */
export function accessHtml({ title, rows, warnings, roles, changes }: AccessPage): string {
  const { all, own, openPlaces, openWrites, signedInWrites, gatedWrites } = accessSummary(rows);
  return htmlPage({
    title: `Access: ${title}`,
    head: `<meta http-equiv="Content-Security-Policy" content="${escapeHtml(POLICY)}">\n<style>${STYLE}</style>`,
    attributes: ' class="wide"',
    body: `<main>
<h1>Access: ${escapeHtml(title)}</h1>
<p><strong>This application: ${countsText(own)}.</strong> With the accounts, pages and endpoints of Portico: ${countsText(all)}.</p>
<div class="glance">
<section><h2>Open to anyone</h2>${placesHtml(openPlaces)}</section>
<section><h2>Writes</h2>
<h3>Open to anyone</h3>${placesHtml(openWrites)}
<h3>Every signed-in user</h3>${placesHtml(signedInWrites)}
<h3>With a permission or by a rule</h3>${placesHtml(gatedWrites)}
</section>
<section><h2>Changed since the last review</h2>${changes === null ? "<p>There is no access.md to compare with.</p>" : listHtml(changes.map(({ sentence }) => sentence))}</section>
</div>
${warnings.length === 0 ? "" : `<section><h2>Warnings</h2>${listHtml(warnings.map(({ place, sentence }) => `${place} ${sentence}`))}</section>`}
${[false, true].map((isBuiltIn) => tableHtml(isBuiltIn, rows, roles)).join("\n")}
</main>`,
  });
}

function placesHtml(places: readonly string[]): string {
  if (places.length === 0) return '<p class="quiet">none</p>';
  return `<ul>${places.map((place) => `<li><code>${escapeHtml(place)}</code></li>`).join("")}</ul>`;
}

function listHtml(sentences: readonly string[]): string {
  if (sentences.length === 0) return '<p class="quiet">nothing</p>';
  return `<ul class="list">${sentences.map((text) => `<li>${escapeHtml(text)}</li>`).join("")}</ul>`;
}

function tableHtml(isBuiltIn: boolean, rows: readonly AccessRow[], roles: readonly string[]): string {
  const title = isBuiltIn ? "Places of Portico" : "Places of this application";
  const heads = ["Place", "Gate", "Anonymous", "Signed in", ...(roles.length === 0 ? ["With permission"] : roles)];
  const lines = rows
    .filter((row) => row.isBuiltIn === isBuiltIn)
    .map((row) => {
      const results = [row.anonymous, row.signedIn].map((text) => resultText(text, row));
      const others =
        roles.length === 0
          ? [row.grants.join("; ") || "-"]
          : roles.map((role) => resultText(row.roles[role] ?? "-", row));
      const place = `<td>${escapeHtml(placeText(row))}${row.isWrite ? " <small>writes</small>" : ""}</td>`;
      return `<tr>${place}${[row.gate, ...results, ...others].map(cellHtml).join("")}</tr>`;
    });
  return `<section tabindex="0" class="scroll" aria-label="${title}"><h2>${title}</h2>
<table><thead><tr>${heads.map((head) => `<th scope="col">${escapeHtml(head)}</th>`).join("")}</tr></thead>
<tbody>
${lines.join("\n")}
</tbody></table></section>`;
}

function cellHtml(text: string): string {
  return `<td${text === "no" || text === "-" ? ' class="no"' : ""}>${escapeHtml(text)}</td>`;
}
