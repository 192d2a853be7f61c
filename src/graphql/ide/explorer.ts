import { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import type { HttpContext } from "../../http/context/http-context.ts";
import { acceptsEncoding, matchesTag } from "../../http/html/accepts-encoding.ts";
import {
  bundledEnd,
  bundledHeaders,
  bundledHtml,
  bundledTag,
  type ExplorerBundle,
  findExplorer,
} from "./bundled-html.ts";
import { cdnHeaders, cdnHtml } from "./cdn-html.ts";
import { explorerHeaders } from "./explorer-headers.ts";
import type { HtmlOptions } from "./html-options.ts";
import type { IDE } from "./ide.ts";
import { SharedBuffers } from "./shared-buffers.ts";

/** Serves the page of an `IDE`. The first request locates the explorer on disk. */
export class Explorer {
  readonly #ide: IDE;
  readonly #hasSocket: () => boolean;
  readonly #pages = new SharedBuffers();
  #bundle: Promise<ExplorerBundle | null> | undefined;

  /** @param hasSocket whether the address of the endpoint also accepts subscriptions over a WebSocket */
  constructor(ide: IDE, hasSocket: () => boolean) {
    this.#ide = ide;
    this.#hasSocket = hasSocket;
  }

  async serve(ctx: HttpContext): Promise<void> {
    ctx.outgoing.vary("Accept");
    if (this.#ide.assets === "cdn") return sendText(ctx, cdnHeaders, cdnHtml(this.#options()));
    this.#bundle ??= findExplorer();
    const bundle = await this.#bundle;
    if (bundle === null) return sendText(ctx, explorerHeaders(["'none'"], []), NOT_THERE);
    await this.#sendBundled(ctx, bundle, bundledEnd(this.#options()));
  }

  async #sendBundled({ outgoing, exchange }: HttpContext, bundle: ExplorerBundle, end: Buffer): Promise<void> {
    const accepted = exchange.headers["accept-encoding"];
    const encoding = (["br", "gzip"] as const).find((coding) => acceptsEncoding(accepted, coding));
    const tag = bundledTag(bundle, end, encoding ?? "identity");
    for (const [name, value] of Object.entries(bundledHeaders(bundle))) outgoing.header(name, value);
    outgoing.vary("Accept-Encoding");
    outgoing.header("etag", tag);
    if (matchesTag(exchange.headers["if-none-match"], tag)) {
      outgoing.status(304).empty();
      return;
    }
    const type = "text/html; charset=utf-8";
    // The page is shared, so that a client that requests it often without reading it holds one copy.
    const page = await this.#pages.get(tag, () => bundledHtml(bundle, end, encoding ?? "gzip"));
    if (encoding === undefined) {
      outgoing.stream(Readable.from([page]).pipe(createGunzip()), type);
      return;
    }
    outgoing.header("content-encoding", encoding).header("content-length", String(page.length));
    outgoing.stream(Readable.from([page]), type);
  }

  /** Does not depend on the path of the request, or each spelling of it would keep another page in memory. */
  #options(): HtmlOptions {
    const { title, query } = this.#ide;
    return { title, query, hasSocket: this.#hasSocket() };
  }
}

function sendText({ outgoing }: HttpContext, headers: Readonly<Record<string, string>>, page: string): void {
  for (const [name, value] of Object.entries(headers)) outgoing.header(name, value);
  outgoing.html(page);
}

const NOT_THERE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>GraphiQL</title>
</head>
<body style="max-width: 40rem; margin: 4rem auto; padding: 0 1.5rem; font: 1rem/1.5 system-ui, sans-serif">
<h1>The explorer is not part of this build</h1>
<p>Portico did not find the explorer next to its own code. This happens when an application is bundled into one file.
Set <code>ide: { assets: "cdn" }</code> to load GraphiQL from a CDN instead.</p>
</body>
</html>
`;
