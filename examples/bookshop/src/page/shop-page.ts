import { readFileSync } from "node:fs";
import { NotFound, Router } from "portico";

/**
 * The page at `/`: HTML, a style sheet and modules that the browser loads as they are. They use the routes and the GraphQL API as any
 * client would.
 */
export function shopPage(): Router {
  const [page, assets] = [read("shop-page.html"), new Map(ASSETS.map((name) => [name, read(name)]))];
  const router = new Router();

  router.get("/", { openapi: false }, ({ response }) =>
    response.header("content-security-policy", POLICY).header("x-content-type-options", "nosniff").html(page),
  );

  router.get("/page/:file", { openapi: false }, ({ path, response }) => {
    const asset = assets.get(path.file);
    if (asset === undefined) throw new NotFound();
    response.header("x-content-type-options", "nosniff").header("cache-control", "no-cache");
    return response.bytes(Buffer.from(asset), TYPES[path.file.split(".").at(-1) ?? ""]);
  });

  return router;
}

const ASSETS = ["shop.css", "shop.js", "account.js", "api.js", "catalogue.js", "dom.js", "icon.svg", "orders.js"];
const TYPES: Readonly<Record<string, string>> = {
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  svg: "image/svg+xml",
};

/** The browser loads and runs only files of the shop. Inline scripts and styles are refused. */
const POLICY = [
  "default-src 'none'",
  ...["script-src", "style-src", "img-src", "connect-src"].map((directive) => `${directive} 'self'`),
  ...["base-uri", "form-action", "frame-ancestors"].map((directive) => `${directive} 'none'`),
].join("; ");

function read(file: string): string {
  return readFileSync(new URL(file, import.meta.url), "utf8");
}
