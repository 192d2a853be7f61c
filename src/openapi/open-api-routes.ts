import { posix } from "node:path";
import { Readable } from "node:stream";
import { createBrotliDecompress } from "node:zlib";
import { ConfigurationError } from "../core/configuration-error.ts";
import { acceptsEncoding, matchesTag } from "../http/html/accepts-encoding.ts";
import { joinPath } from "../http/routing/path-params.ts";
import { declareRoute, type Route } from "../http/routing/route.ts";
import type { PorticoRequest } from "../kernel/context/portico-request.ts";
import type { PorticoResponse } from "../kernel/context/portico-response.ts";
import { NotFound } from "../kernel/exceptions/http-exception.ts";
import type { OpenAPIDocument } from "./open-api-document.ts";
import type { readOpenApiOptions } from "./open-api-options.ts";
import { referenceHeaders, referenceHtml } from "./reference-html.ts";
import { readScalarBundle, type ScalarBundle } from "./scalar-bundle.ts";

interface Args {
  readonly request: PorticoRequest;
  readonly response: PorticoResponse;
}

/**
 * Returns the routes that serve the document and its reference page. Neither is listed in the document, which is built
 * on the first request. All URLs in the page are relative, so it works under any prefix.
 */
export function openApiRoutes(
  options: ReturnType<typeof readOpenApiOptions>,
  document: () => OpenAPIDocument,
): readonly Route[] {
  const path = joinPath(options.document, "/");
  const once = lazily(document);
  const documentRoute = unlisted(path, ({ request, response }) => {
    response.header("cache-control", "no-cache").header("x-content-type-options", "nosniff");
    return response.json(below(prefixOf(request, path), once()));
  });
  return options.page === false
    ? [documentRoute]
    : [documentRoute, ...pageRoutes(joinPath(options.page, "/"), path, once)];
}

function pageRoutes(page: string, document: string, openApi: () => OpenAPIDocument): readonly Route[] {
  if (page === document)
    throw new ConfigurationError("PorticoApp.openapi.page", "a different path from the document's", page);
  const bundle = lazily(readScalarBundle);
  const scripts = joinPath(page, "/scalar");
  return [
    unlisted(page, async ({ request, response }) => {
      const script = await bundle();
      const { title } = openApi().info;
      // The router accepts `/docs` and `/docs/`, but browsers resolve relative URLs differently for each.
      const from = pathOf(request).endsWith("/") ? page : posix.dirname(page);
      const relative = (path: string): string => `./${posix.relative(from, path)}`;
      for (const [name, value] of Object.entries(referenceHeaders)) response.header(name, value);
      return response.html(
        referenceHtml({
          title,
          document: relative(document),
          script: script === null ? null : relative(`${scripts}/${script.hash}.js`),
        }),
      );
    }),
    unlisted(`${scripts}/:file`, async ({ request, response }) => {
      const script = await bundle();
      if (script === null || request.params["file"] !== `${script.hash}.js`) throw new NotFound();
      return sendScript(script, request, response);
    }),
  ];
}

/** The URL changes with the content, so clients may cache it without a limit. */
async function sendScript(
  { hash, brotli, gzip }: ScalarBundle,
  { headers }: PorticoRequest,
  response: PorticoResponse,
): Promise<unknown> {
  const accepted = headers["accept-encoding"];
  const encoding = (["br", "gzip"] as const).find((coding) => acceptsEncoding(accepted, coding));
  const tag = encoding === undefined ? `"${hash}"` : `"${hash}-${encoding}"`;
  response
    .header("etag", tag)
    .header("vary", "accept-encoding")
    .header("cache-control", "public, max-age=31536000, immutable")
    .header("x-content-type-options", "nosniff");
  if (matchesTag(headers["if-none-match"], tag)) return response.status(304).empty();
  const type = "text/javascript; charset=utf-8";
  if (encoding === undefined) return response.stream(Readable.from([brotli]).pipe(createBrotliDecompress()), type);
  const script = encoding === "br" ? brotli : await gzip();
  response.header("content-encoding", encoding).header("content-length", String(script.length));
  return response.stream(Readable.from([script]), type);
}

/** Adds the mount prefix as a server, because a document without servers means the root of its host. */
function below(prefix: string, document: OpenAPIDocument): OpenAPIDocument {
  const { openapi, info, ...rest } = document;
  return { openapi, info, servers: [{ url: prefix === "" ? "/" : prefix }], ...rest };
}

/**
 * Returns the part of the request path before the route's own path: the prefix under which the application is mounted.
 */
function prefixOf(request: PorticoRequest, path: string): string {
  const whole = pathOf(request).replace(/(?<!\/)\/+$/, "");
  return whole.endsWith(path) ? whole.slice(0, -path.length) : "";
}

function pathOf({ url }: PorticoRequest): string {
  return url.replace(/^[a-z]+:\/\/[^/]*/, "").replace(/[?#].*/s, "");
}

function unlisted(path: string, handler: (args: Args) => unknown): Route {
  return declareRoute("GET", path, { openapi: false }, handler);
}

function lazily<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
