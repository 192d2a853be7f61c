import { PorticoError } from "portico";
import { InvalidCursorError, InvalidPageError, InvalidPageSizeError, PaginationError } from "portico/pagination";
import { expect, it } from "vitest";
import { bodyOf, books, bothWays, target } from "../ways.ts";

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

  it.each([
    ["/pages?page=", "page is empty: it must be a whole number of at least 1"],
    ["/pages?page=x", "page must be a whole number of at least 1"],
    ["/pages?page=1x", "page must be a whole number of at least 1"],
    ["/pages?page=x1", "page must be a whole number of at least 1"],
    ["/pages?page=01", "page must be a whole number of at least 1"],
    [`/pages?page=${"1".repeat(31)}`, "page must be a whole number of at least 1"],
    ["/pages?page=0", "page must be at least 1"],
    ["/pages?page=-1", "page must be at least 1"],
    ["/pages?page=9007199254740992", "page is too large"],
    ["/pages?page=9007199254740991", "page is too large"],
    ["/pages?page=1&page=2", "page was given more than once"],
    ["/pages?page_size=", "page_size is empty: it must be a whole number of at least 1"],
    ["/pages?page_size=x", "page_size must be a whole number of at least 1"],
    ["/pages?page_size=0", "page_size must be at least 1"],
    ["/pages?page_size=1&page_size=2", "page_size was given more than once"],
    ["/pages?page_size=101", "page_size must be at most 100"],
    [`/pages?page_size=${"1".repeat(30)}`, "page_size must be at most 100"],
    [`/pages?page_size=${"1".repeat(31)}`, "page_size must be a whole number of at least 1"],
    ["/pages?page=3", "page is beyond the last page"],
    ["/offsets?offset=-0", "offset must be at least 0"],
    ["/offsets?offset=-1", "offset must be at least 0"],
    ["/offsets?limit=-0", "limit must be at least 0"],
    ["/offsets?offset=9", "offset is beyond the last page"],
  ])("for %s say what is wrong", async (path, detail) => {
    const client = await serve((app) =>
      app
        .get("/pages", ({ response }) =>
          response.paginate(books(9), { defaultPageSize: 5, overMax: "reject", outOfRange: "error" }),
        )
        .get("/offsets", ({ response }) =>
          response.paginate(books(9), { strategy: "limit_offset", outOfRange: "error" }),
        ),
    );

    const answer = await client.get(path);

    expect([answer.status, answer.json()]).toMatchObject([400, { detail }]);
  });

  it("for a cursor beyond the last page say so, if it is an error", async () => {
    let length = 9;
    const list = (outOfRange: "empty" | "error") => ({ strategy: "cursor", defaultPageSize: 5, outOfRange }) as const;
    const client = await serve((app) =>
      app
        .get("/strict", ({ response }) => response.paginate(books(length), list("error")))
        .get("/lenient", ({ response }) => response.paginate(books(length), list("empty"))),
    );
    const next = async (path: string): Promise<string> =>
      target(bodyOf(await client.get(path)).pagination.links["next"] ?? "");
    const [strict, lenient] = [await next("/strict"), await next("/lenient")];

    expect((await client.get(strict)).status).toBe(200);
    length = 5;
    expect((await client.get(strict)).json()).toMatchObject({ detail: "cursor is beyond the last page" });
    expect((await client.get(lenient)).json()).toMatchObject({ items: [] });
    length = 0;
    expect((await client.get("/strict")).json()).toMatchObject({ items: [] });
  });

  it("do not include an empty first page, and name the parameter of another page", async () => {
    const client = await serve((app) =>
      app
        .get("/pages", ({ response }) => response.paginate([], { outOfRange: "error" }))
        .get("/offsets", ({ response }) => response.paginate([], { strategy: "limit_offset", outOfRange: "error" })),
    );

    expect((await client.get("/pages")).status).toBe(200);
    expect((await client.get("/offsets")).status).toBe(200);
    expect((await client.get("/pages?page=2")).json()).toMatchObject({ parameter: "page" });
    expect((await client.get("/offsets?offset=1")).json()).toMatchObject({ parameter: "offset" });
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

  it("keep their cause, if they have one", () => {
    const cause = new Error("why");

    expect(new InvalidPageError("x", { parameter: "page", cause }).cause).toBe(cause);
    expect(new InvalidCursorError({ parameter: "cursor", cause }).cause).toBe(cause);
    expect(new InvalidPageError("x", { parameter: "page" })).not.toHaveProperty("cause");
  });

  it("[ERR-34] share a base class", () => {
    for (const [type] of requests) {
      expect(type.prototype).toBeInstanceOf(PaginationError);
      expect(type.prototype).toBeInstanceOf(PorticoError);
    }
  });
});
