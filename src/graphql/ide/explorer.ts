import { Readable } from "node:stream";
import { createBrotliDecompress } from "node:zlib";
import { acceptsEncoding, matchesTag } from "../../http/html/accepts-encoding.ts";
import { brotliToGzip } from "../../http/html/brotli-to-gzip.ts";
import { htmlPage } from "../../http/html/html-page.ts";
import type { HttpContext } from "../../kernel/context/http-context.ts";
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

/** Serves the page of an `IDE`. The first request locates the explorer on disk. */
export class Explorer {
  readonly #ide: IDE;
  readonly #hasSocket: () => boolean;
  readonly #pages = new SharedBuffers();
  /** One per page: an endpoint has one with a socket and one without. */
  readonly #gzipped = new Map<string, Promise<Buffer>>();
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
    const brotli = (): Promise<Buffer> => this.#pages.get(tag, () => bundledHtml(bundle, end));
    if (encoding === undefined) {
      outgoing.stream(Readable.from([await brotli()]).pipe(createBrotliDecompress()), type);
      return;
    }
    const page = encoding === "br" ? await brotli() : await this.#gzip(tag, brotli);
    outgoing.header("content-encoding", encoding).header("content-length", String(page.length));
    outgoing.stream(Readable.from([page]), type);
  }

  async #gzip(tag: string, brotli: () => Promise<Buffer>): Promise<Buffer> {
    const known = this.#gzipped.get(tag);
    if (known !== undefined) return known;
    const making = brotli().then(brotliToGzip);
    this.#gzipped.set(tag, making);
    // A failure, such as a missing file, is not kept.
    making.catch(() => this.#gzipped.delete(tag));
    return making;
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

const NOT_THERE = htmlPage({
  title: "GraphiQL",
  attributes: ` style="max-width: 40rem; margin: 4rem auto; padding: 0 1.5rem; font: 1rem/1.5 system-ui, sans-serif"`,
  body: `<h1>GraphiQL is not part of this build</h1>
<p>Portico did not find GraphiQL next to its own code. This happens when an application is bundled into one file.
Set <code>ide: { assets: "cdn" }</code> to load GraphiQL from a CDN instead.</p>`,
});

/** Buffers that concurrent users share. A buffer can be garbage-collected when it is no longer in use. */
class SharedBuffers {
  readonly #made = new Map<string, WeakRef<Buffer>>();
  readonly #making = new Map<string, Promise<Buffer>>();

  /** Returns the buffer of this key, or makes it. */
  async get(key: string, make: () => Promise<Buffer>): Promise<Buffer> {
    const known = this.#made.get(key)?.deref();
    if (known !== undefined) return known;
    const making = this.#making.get(key) ?? this.#make(key, make);
    return making;
  }

  #make(key: string, make: () => Promise<Buffer>): Promise<Buffer> {
    const making = make()
      .then((buffer) => {
        // There are few keys, one per page and compression. Those of collected buffers are removed here.
        for (const [old, made] of this.#made) if (made.deref() === undefined) this.#made.delete(old);
        this.#made.set(key, new WeakRef(buffer));
        return buffer;
      })
      .finally(() => this.#making.delete(key));
    this.#making.set(key, making);
    return making;
  }
}
