import { readFileSync } from "node:fs";
import { Router } from "portico";

/** The shop window at `/`: one file of HTML that uses the routes and the graph as any client would. */
export function shopPage(): Router {
  const page = readFileSync(new URL("./shop-page.html", import.meta.url), "utf8");
  return new Router().get("/", { openapi: false }, ({ response }) => response.html(page));
}
