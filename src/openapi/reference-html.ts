import { escapeHtml } from "../http/html/escape-html.ts";
import { htmlHeaders } from "../http/html/html-headers.ts";
import { htmlPage } from "../http/html/html-page.ts";

/** The input of the reference page. URLs are relative to the page. */
export interface ReferenceHtml {
  readonly title: string;
  readonly document: string;
  /** `null` if Scalar's script is not available. */
  readonly script: string | null;
}

/** Allows nothing from other origins, and only this one script. Scalar writes its styles into the page. */
export const referenceHeaders: Readonly<Record<string, string>> = htmlHeaders({
  "script-src": ["'self'"],
  "style-src": ["'self'", "'unsafe-inline'"],
  "img-src": ["'self'", "data:", "blob:"],
  "font-src": ["'self'", "data:"],
});

/** Returns the page that shows the document. It loads only the document and one script, both from this application. */
export function referenceHtml({ title, document, script }: ReferenceHtml): string {
  const link = `<a href="${escapeHtml(document)}">OpenAPI document</a>`;
  if (script === null) {
    const body = note(title, `The API reference is not part of this build. Open the ${link} instead.`);
    return htmlPage({ title, body });
  }
  const configuration = escapeHtml(JSON.stringify({ ...CONFIGURATION, url: document }));
  const body = `<noscript>${note(title, `This page needs JavaScript. Open the ${link} instead.`)}</noscript>
<script id="api-reference" type="application/json" data-configuration="${configuration}"></script>
<script src="${escapeHtml(script)}"></script>`;
  return htmlPage({ title, body });
}

/** Shown if the page itself cannot be used. */
function note(title: string, sentence: string): string {
  const style = "max-width: 40rem; margin: 4rem auto; padding: 0 1.5rem; font: 1rem/1.5 system-ui, sans-serif";
  return `<div style="${style}"><h1>${escapeHtml(title)}</h1><p>${sentence}</p></div>`;
}

/** Turns off Scalar's hosted services and the buttons that lead to them. */
const CONFIGURATION = {
  withDefaultFonts: false,
  telemetry: false,
  hideClientButton: true,
  showDeveloperTools: "never",
  agent: { disabled: true },
  mcp: { disabled: true },
  documentDownloadType: "direct",
  customCss: `
    .light-mode, .dark-mode { --scalar-font: system-ui, sans-serif; --scalar-font-code: ui-monospace, monospace; }
    .darklight-reference a { display: none; }
    section:focus-visible { outline: none; }
  `,
};
