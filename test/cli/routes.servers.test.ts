import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { runOnTerminal, runPortico } from "./run-portico.ts";

const config = resolve(import.meta.dirname, "fixtures/shop.config.ts");

describe("portico routes", () => {
  it("lists every route and socket with its gate, limits and schemas", async () => {
    const { code, out, err } = await runPortico(["routes", "--config", config]);

    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toMatchInlineSnapshot(`
      "METHOD     PATH                AUTH                  LIMITS                      SCHEMAS
      GET        /books              anyone                30 s                        query, response
      POST       /books              signed in             10 kB, 30 s, 30 per minute  body
      GET        /docs               anyone                30 s                        -
      GET        /docs/scalar/:file  anyone                30 s                        -
      GET        /graphql            anyone                30 s                        GraphQL
      POST       /graphql            anyone                1 MB, 30 s                  GraphQL
      GET        /livez              anyone                30 s                        -
      GET        /openapi.json       anyone                30 s                        -
      GET        /orders/:id         signed in by session  -                           path, response
      WebSocket  /orders/news        signed in by session  16 kB per message           -
      GET        /readyz             anyone                30 s                        -
      "
    `);
  });

  it("prints the same as JSON", async () => {
    const { code, out } = await runPortico(["routes", "--config", config, "--json"]);

    const routes = JSON.parse(out) as readonly { readonly path: string; readonly method: string }[];
    expect(code).toBe(0);
    expect(routes.find(({ path, method }) => path === "/books" && method === "POST")).toEqual({
      method: "POST",
      path: "/books",
      auth: "signed in",
      maxBody: 10_240,
      timeoutSeconds: 30,
      rateLimits: ["30 per minute"],
      schemas: ["body"],
    });
    expect(routes.find(({ path }) => path === "/orders/news")).toEqual({
      method: "WebSocket",
      path: "/orders/news",
      auth: "signed in by session",
      maxBody: 16_384,
      timeoutSeconds: null,
      rateLimits: [],
      schemas: [],
    });
  });

  it("prints the table on a terminal", async () => {
    const { code, out } = await runOnTerminal(["routes", "--config", config]);

    expect(code).toBe(0);
    expect(out).toMatch(/^GET +\/books +anyone +30 s +query, response$/m);
  });

  it("asks for a configuration if there is none", async () => {
    const { code, err } = await runPortico(["routes"], { cwd: import.meta.dirname });

    expect(code).toBe(2);
    expect(err).toContain("portico: no application: create portico.config.ts");
  });
});
