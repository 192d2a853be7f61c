import { PorticoError } from "portico";
import { InvalidCursorError, InvalidPageError, InvalidPageSizeError, PaginationError } from "portico/pagination";
import { expect, it } from "vitest";
import { books, bothWays } from "./ways.ts";

bothWays("the errors", (serve) => {
  const requests = [
    [InvalidPageError, "/pages?page=0", "page", "invalid_page"],
    [InvalidPageSizeError, "/pages?page_size=0", "page_size", "invalid_page_size"],
    [InvalidCursorError, "/cursors?cursor=!!!", "cursor", "invalid_cursor"],
  ] as const;

  it("[ERR-36] without a handler are 400 with detail, code and parameter", async () => {
    const client = await serve((app) =>
      app
        .get("/pages", ({ response }) => response.paginate(books(9)))
        .get("/cursors", ({ response }) => response.paginate(books(9), { strategy: "cursor" })),
    );
    for (const [, path, parameter, code] of requests) {
      const answer = await client.get(path);
      expect(answer.status).toBe(400);
      expect(answer.headers["content-type"]).toMatch("application/problem+json");
      expect(answer.json()).toEqual({
        type: "about:blank",
        title: "Bad Request",
        status: 400,
        detail: expect.any(String),
        code,
        parameter,
      });
    }
  });

  it("[ERR-34] [ERR-35] can be mapped by the application by class", async () => {
    const client = await serve((app) => {
      for (const [type] of requests)
        app.addExceptionHandler(type, (_request, response, exc) =>
          response.status(400).json({ detail: exc.message, by: exc.name }),
        );
      app
        .get("/pages", ({ response }) => response.paginate(books(9)))
        .get("/cursors", ({ response }) => response.paginate(books(9), { strategy: "cursor" }));
    });
    for (const [type, path] of requests) {
      const answer = await client.get(path);
      expect([answer.status, answer.json()]).toEqual([400, { detail: expect.any(String), by: type.name }]);
    }
  });

  it("[ERR-34] share a base class", () => {
    for (const [type] of requests) {
      expect(type.prototype).toBeInstanceOf(PaginationError);
      expect(type.prototype).toBeInstanceOf(PorticoError);
    }
  });
});
