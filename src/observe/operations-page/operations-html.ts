import { docsAddress } from "../../core/advice/docs-address.ts";
import { htmlHeaders, sourceHash } from "../../http/html/html-headers.ts";
import { htmlPage } from "../../http/html/html-page.ts";
import { jsonElement } from "../../http/html/json-element.ts";
import { OPERATIONS_SCRIPT } from "./operations-script.ts";
import { OPERATIONS_STYLE } from "./operations-style.ts";

/** Allows only the page's own style, script and server. */
export const operationsHeaders: Readonly<Record<string, string>> = htmlHeaders({
  "script-src": [sourceHash(OPERATIONS_SCRIPT)],
  "style-src": [sourceHash(OPERATIONS_STYLE)],
  "img-src": ["data:"],
});

/** The page without data: its script fetches the totals. */
export function operationsHtml(refreshSeconds: number): string {
  return htmlPage({
    title: "Operations",
    head: `<style>${OPERATIONS_STYLE}</style>`,
    body: `<main>
<header>
<h1>Operations</h1>
<span id="state" class="quiet" role="status">Loading</span>
<span role="group" aria-label="Rows">
<button type="button" data-kind="operations" aria-pressed="true">Operations</button>
<button type="button" data-kind="routes" aria-pressed="false">Routes</button>
</span>
<span role="group" aria-label="Time">
<button type="button" data-span="start" aria-pressed="true">Since startup</button>
<button type="button" data-span="minute" aria-pressed="false">Last minute</button>
</span>
<button type="button" id="pause">Pause</button>
${guide("guide/operations-page.md", "Guide")}
</header>
<noscript>This page needs JavaScript.</noscript>
<div class="tiles">
${tile("tile-rate", "busy", "Operations")}
${tile("tile-time", "slow", "Average time")}
${tile("tile-fail", "fail", "Failing")}
${tile("tile-names", "busy", "Different operations")}
</div>
<section id="saturation" class="busy" hidden>
<h2>Saturation</h2>
<p class="quiet">Limits, pools and connections of this process, now. In the guide: ${guide("guide/deployment.md#faults", "faults")}, ${guide("guide/deployment.md#load-shedding", "load shedding")}</p>
<ol></ol>
</section>
<div class="panels">
${panel("busiest", "busy", "Busiest", "Most frequent", "None yet.")}
${panel("slowest", "slow", "Slowest", "Highest average time", "None yet.")}
${panel("failing", "fail", "Most failing", "Most responses with errors", "No errors.")}
${panel("codes", "fail", "Errors by code", "With the last correlation id", "No errors.")}
</div>
<section class="scroll">
<h2>All since startup</h2>
<table>
<thead><tr>
${column("name", "Name")}
${column("count", "Count")}
${column("errors", "With errors")}
${column("average", "Average")}
${column("p50", "p50")}
${column("p95", "p95")}
${column("p99", "p99")}
${column("slowest", "Slowest")}
${column("cost", "Average cost")}
</tr></thead>
<tbody id="rows"></tbody>
</table>
<p id="more" class="quiet" hidden>Showing the first 100 in this order.</p>
</section>
</main>
${jsonElement("options", { refreshSeconds })}
<script>${OPERATIONS_SCRIPT}</script>`,
  });
}

function tile(id: string, tone: string, name: string): string {
  return `<section id="${id}" class="tile ${tone}"><p class="quiet">${name}</p><strong class="number">-</strong><small class="number"></small></section>`;
}

function panel(id: string, tone: string, name: string, meaning: string, empty: string): string {
  return `<section id="${id}" class="${tone}"><h2>${name}</h2><p class="quiet">${meaning}</p><ol></ol><p class="empty quiet">${empty}</p></section>`;
}

/** A link to a section of the documentation. */
function guide(section: string, text: string): string {
  return `<a href="${docsAddress(section)}">${text}</a>`;
}

function column(order: string, name: string): string {
  return `<th scope="col" data-order="${order}"><button type="button">${name}</button></th>`;
}
