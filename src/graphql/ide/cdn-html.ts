import { sourceHash } from "../../http/html/html-headers.ts";
import { htmlPage } from "../../http/html/html-page.ts";
import { jsonElement } from "../../http/html/json-element.ts";
import { CDN_SCRIPT } from "./cdn-script.ts";
import { explorerHeaders } from "./explorer-headers.ts";
import type { HtmlOptions } from "./html-options.ts";

interface CdnFile {
  readonly url: string;
  /** The hash of the file in the npm package: browsers reject any other file. */
  readonly integrity: string;
}

const CDN = "https://cdn.jsdelivr.net/npm/";

// The newest GraphiQL that is published as one script. GraphiQL 5 has only modules, which integrity hashes cannot cover.
const SCRIPTS: readonly CdnFile[] = [
  {
    url: `${CDN}react@18.3.1/umd/react.production.min.js`,
    integrity: "sha384-DGyLxAyjq0f9SPpVevD6IgztCFlnMF6oW/XQGmfe+IsZ8TqEiDrcHkMLKI6fiB/Z",
  },
  {
    url: `${CDN}react-dom@18.3.1/umd/react-dom.production.min.js`,
    integrity: "sha384-gTGxhz21lVGYNMcdJOyq01Edg0jhn/c22nsx0kyqP0TxaV5WVdsSH1fSDUf5YJj1",
  },
  {
    url: `${CDN}graphiql@4.1.2/graphiql.min.js`,
    integrity: "sha384-9XdHu7ajgGJziD4J1zNBKQ842Q/+zZfDv+ib1eMhZWBH6hPAs806x+Jbcf0yNO6B",
  },
];
const STYLES: readonly CdnFile[] = [
  {
    url: `${CDN}graphiql@4.1.2/graphiql.min.css`,
    integrity: "sha384-1el1QShFBnnXTx9x/Cprg82hZWKt0ry29OAYIXt05swbi0KcZDFoj0CWguMpopJr",
  },
];

export const cdnHeaders: Readonly<Record<string, string>> = explorerHeaders(
  [sourceHash(CDN_SCRIPT), ...SCRIPTS.map(({ url }) => url)],
  STYLES.map(({ url }) => url),
);

/** A small page that loads the explorer from a CDN, with a fixed version and an integrity hash for each file. */
export function cdnHtml(options: HtmlOptions): string {
  return htmlPage({
    title: "GraphiQL",
    head: `${STYLES.map(({ url, integrity }) => `<link rel="stylesheet" href="${url}" integrity="${integrity}" crossorigin="anonymous">`).join("\n")}
<style>html, body, #explorer { height: 100%; margin: 0; }</style>`,
    body: `<div id="explorer"><noscript>This page needs JavaScript.</noscript></div>
${jsonElement("options", options)}
${SCRIPTS.map(({ url, integrity }) => `<script src="${url}" integrity="${integrity}" crossorigin="anonymous"></script>`).join("\n")}
<script>${CDN_SCRIPT}</script>`,
  });
}
