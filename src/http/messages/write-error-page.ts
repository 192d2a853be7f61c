import type { BaseContext } from "../../kernel/context/http-context.ts";
import { brandOf } from "../html/brand.ts";
import { escapeHtml } from "../html/escape-html.ts";
import { htmlHeaders, sourceHash } from "../html/html-headers.ts";
import { htmlPage } from "../html/html-page.ts";
import { PAGE_STYLE } from "../html/page-style.ts";

/** The title and the sentence for a person. Other statuses answer a program, or a form whose author handles them. */
const SENTENCES: Readonly<Record<number, readonly [title: string, sentence: string]>> = {
  401: ["Sign in", "You must sign in to see this page."],
  403: ["No permission", "Your account has no permission to see this page."],
  404: ["Page not found", "This page doesn't exist, or you can't see it."],
  429: ["Too many requests", "Wait a moment, then try again."],
  500: ["Something went wrong", "The page could not be shown. The error has been recorded."],
  503: ["Unavailable", "The page is unavailable at the moment. Try again soon."],
};

/** Whether errors of this status have a page. */
export function hasErrorPage(status: number): boolean {
  return status in SENTENCES;
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
  const [title, sentence] = SENTENCES[status] as readonly [string, string];
  const { correlationId: id, link } = details;
  outgoing.html(
    htmlPage({
      title,
      head: `<style>${PAGE_STYLE}</style>\n<style>${brand.style}</style>`,
      body: `${brand.header}<main>
<h1>${title}</h1>
<p>${sentence}</p>
${link === undefined ? "" : `<p><a href="${escapeHtml(link.href)}">${escapeHtml(link.text)}</a></p>`}
${id === undefined ? "" : `<p class="quiet">Reference: <code>${escapeHtml(id)}</code></p>`}
</main>`,
    }),
  );
}
