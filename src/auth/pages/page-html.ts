import type { Brand } from "../../http/html/brand.ts";
import { escapeHtml } from "../../http/html/escape-html.ts";
import { htmlHeaders } from "../../http/html/html-headers.ts";
import { htmlPage } from "../../http/html/html-page.ts";
import type { PageSite } from "./page-site.ts";

/** Allows the files of the pages, requests to the own server, and the image of a QR code. Nothing can be inserted as HTML. */
export function pageHeaders({ imageSources }: Brand): Readonly<Record<string, string>> {
  return {
    ...htmlHeaders({
      "script-src": ["'self'"],
      "style-src": ["'self'"],
      "img-src": imageSources,
      "require-trusted-types-for": ["'script'"],
    }),
    "cache-control": "no-store",
  };
}

/** The files that every page loads, as paths. */
export interface PagePaths {
  readonly script: string;
  readonly style: string;
}

/** The content of a page. */
export interface PageContent {
  readonly title: string;
  /** HTML. */
  readonly body: string;
  /** Whether it has several parts beside the one that it is for. */
  readonly isWide?: boolean;
}

export function pageHtml(site: PageSite, files: PagePaths, { title, body, isWide = false }: PageContent): string {
  const { options, accounts, has, brand } = site;
  const link = (path: string): string => escapeHtml(site.link(path));
  const { texts } = brand;
  return htmlPage({
    language: texts.language,
    title,
    head: `<link rel="stylesheet" href="${link(files.style)}">
<script src="${link(files.script)}" defer></script>`,
    attributes: `${isWide ? ' class="wide"' : ""} data-accounts="${link(accounts)}" data-home="${link(has("me") ? options.accountPage : "/")}" data-sign-in="${link(options.signInPage)}" data-step-up="${link(options.stepUpPage)}"`,
    body: `${brand.header}<main>
<h1>${escapeHtml(title)}</h1>
<p id="notice" class="error" role="alert" tabindex="-1"></p>
<noscript><p>${escapeHtml(texts.needsJavaScript)}</p></noscript>
${body}
</main>`,
  });
}
