import { escapeHtml } from "./escape-html.ts";

/** The parts of a page. All but the title are HTML. */
export interface HtmlPage {
  readonly language?: string;
  readonly title: string;
  /** Further elements of the head, such as styles and scripts. */
  readonly head?: string;
  /** The attributes of the body, after a space. */
  readonly attributes?: string;
  readonly body: string;
}

/** A page that Portico serves. It follows the light or dark mode of the reader's system, and its icon needs no request. */
export function htmlPage({ language = "en", title, head = "", attributes = "", body }: HtmlPage): string {
  return `<!doctype html>
<html lang="${escapeHtml(language)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="data:,">
${head}
</head>
<body${attributes}>
${body}
</body>
</html>
`;
}
