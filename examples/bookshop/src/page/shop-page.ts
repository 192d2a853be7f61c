import { readFileSync } from "node:fs";
import { Router } from "portico";

/** The page at `/`: one HTML file that uses the routes and the GraphQL API as any client would. */
export function shopPage(): Router {
  const page = readFileSync(new URL("./shop-page.html", import.meta.url), "utf8");
  return new Router().get("/", { openapi: false }, ({ response }) => response.html(page));
}
