import { escapeHtml } from "../../http/html/escape-html.ts";
import { htmlHeaders, sourceHash } from "../../http/html/html-headers.ts";
import { OPERATIONS_STYLE } from "./operations-style.ts";

/** The page has no script. */
export const refusalHeaders: Readonly<Record<string, string>> = {
  ...htmlHeaders({ "style-src": [sourceHash(OPERATIONS_STYLE)], "img-src": ["data:"] }),
  "content-type": "text/html; charset=utf-8",
};

/** The page for a browser that the gate of the operations page rejects. */
export function refusalHtml(status: 401 | 403, signInUrl: string | undefined): string {
  const [title, sentence, link] =
    status === 401
      ? ["Sign in", "You must sign in to see this page.", "Sign in"]
      : ["No permission", "Your account has no permission to see this page.", "Sign in with another account"];
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>${title}</title>
<style>${OPERATIONS_STYLE}</style>
</head>
<body>
<main>
<section>
<h1>${title}</h1>
<p>${sentence}</p>
${signInUrl === undefined ? "" : `<p><a href="${escapeHtml(signInUrl)}">${link}</a></p>`}
</section>
</main>
</body>
</html>
`;
}
