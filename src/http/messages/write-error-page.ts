import type { BaseContext } from "../../kernel/context/http-context.ts";
import { brandOf } from "../html/brand.ts";
import { escapeHtml } from "../html/escape-html.ts";
import { htmlHeaders, sourceHash } from "../html/html-headers.ts";
import { htmlPage } from "../html/html-page.ts";
import { PAGE_STYLE } from "../html/page-style.ts";

/** The statuses whose errors a person reads. Others answer a program, or a form whose author handles them. */
type PageStatus = 401 | 403 | 404 | 429 | 500 | 503;
const STATUSES: ReadonlySet<number> = new Set<PageStatus>([401, 403, 404, 429, 500, 503]);

/** Whether errors of this status have a page. */
export function hasErrorPage(status: number): boolean {
  return STATUSES.has(status);
}

/** The parts of a page beside its sentence. */
export interface ErrorDetails {
  /** Found in the log line of the error. */
  readonly correlationId?: string | undefined;
  /** Where to go from here. */
  readonly link?: { readonly href: string; readonly text: string } | undefined;
}

const styleSource = sourceHash(PAGE_STYLE);

/** Writes the page for a status that has one. The status and the headers of the error are already set. */
export function writeErrorPage({ services, outgoing }: BaseContext, status: number, details: ErrorDetails): void {
  const brand = brandOf.of(services);
  const headers = htmlHeaders({ "style-src": [styleSource, brand.styleSource], "img-src": brand.imageSources });
  for (const [name, value] of Object.entries(headers)) outgoing.header(name, value);
  outgoing.header("content-type", "text/html; charset=utf-8").header("cache-control", "no-store");
  outgoing.vary("Accept");
  const { language, errors } = brand.texts;
  const { title, text } = errors[status as PageStatus];
  const { correlationId: id, link } = details;
  outgoing.html(
    htmlPage({
      language,
      title,
      head: `<style>${PAGE_STYLE}</style>\n<style>${brand.style}</style>`,
      body: `${brand.header}<main>
<h1>${escapeHtml(title)}</h1>
<p>${escapeHtml(text)}</p>
${link === undefined ? "" : `<p><a href="${escapeHtml(link.href)}">${escapeHtml(link.text)}</a></p>`}
${id === undefined ? "" : `<p class="quiet">${escapeHtml(errors.reference)} <code>${escapeHtml(id)}</code></p>`}
</main>`,
    }),
  );
}
