import { PorticoApp } from "portico";
import { CursorPagination, PageNumberPagination } from "portico/pagination";
import { testClient } from "portico/testing";
import { afterEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { bodyOf, books, SECRET } from "./ways.ts";

const item = z.object({ id: z.number(), title: z.string() });

afterEach(() => {
  vi.unstubAllEnvs();
});

function operationOf(app: PorticoApp): Record<string, any> {
  return (app.openapi().paths["/items"] as Record<string, Record<string, any>>)["get"] as Record<string, any>;
}

describe("a paginated route", () => {
  it("[PAG-44] describes parameters and envelope in the document", async () => {
    const { Validator } = await import("@seriousme/openapi-schema-validator");
    const pages = new PageNumberPagination({ pageParam: "p", maxPageSize: 50, defaultPageSize: 10 });
    const app = new PorticoApp({ logger: false }).get(
      "/items",
      { paginated: { strategy: pages, item }, query: z.object({ q: z.string().optional() }) },
      ({ response }) => response.paginate(books(45), { strategy: pages }),
    );

    const { parameters, responses } = operationOf(app);

    expect(parameters).toEqual([
      { name: "q", in: "query", schema: { type: "string" } },
      { name: "p", in: "query", description: expect.any(String), schema: { type: "integer", minimum: 1, default: 1 } },
      {
        name: "page_size",
        in: "query",
        description: expect.any(String),
        schema: { type: "integer", minimum: 1, maximum: 50, default: 10 },
      },
    ]);
    const { schema } = responses[200].content["application/json"];
    expect(schema.properties.items.items.properties).toEqual({ id: { type: "number" }, title: { type: "string" } });
    expect(Object.keys(schema.properties.pagination.properties)).toEqual([
      "total_items",
      "total_pages",
      "page",
      "page_size",
      "links",
    ]);
    expect(responses[400].content).toHaveProperty("application/problem+json");
    expect(await new Validator().validate(JSON.parse(JSON.stringify(app.openapi())))).toMatchObject({ valid: true });
  });

  it.each(["page_number", "limit_offset", "cursor"] as const)(
    "[PAG-44] responds as its document says, by %s",
    async (strategy) => {
      const app = new PorticoApp({ logger: false, cursorKeys: [SECRET] }).get(
        "/items",
        { paginated: { strategy, item } },
        ({ response }) => response.paginate(books(45), { strategy } as never) as never,
      );
      const { schema } = operationOf(app)["responses"][200].content["application/json"];

      const { pagination } = bodyOf(await testClient(app).get("/items"));

      expect(Object.keys(pagination)).toEqual(Object.keys(schema.properties.pagination.properties));
      expect(Object.keys(pagination)).toEqual(schema.properties.pagination.required);
    },
  );

  it("sends only the properties of its schema", async () => {
    const rows = books(3).map((book) => ({ ...book, secret: "hush" }));
    const client = testClient(
      new PorticoApp({ logger: false })
        .get("/items", { paginated: { strategy: "page_number", item } }, ({ response }) => response.paginate(rows))
        .get("/wrong", { paginated: { strategy: "page_number", item } }, ({ response }) =>
          response.paginate([{ id: "x", title: "" }] as never[]),
        )
        .get("/none", { paginated: { strategy: "page_number", item } }, () => ({}) as never),
    );

    expect((await client.get("/items")).text()).not.toContain("hush");
    expect((await client.get("/wrong")).status).toBe(500);
    expect((await client.get("/none")).status).toBe(500);
  });

  it("warns once outside production if its handler uses another strategy than it declares", async () => {
    const { logCatcher } = await import("portico/testing");
    const log = logCatcher();
    const client = testClient(
      new PorticoApp({ logger: log, cursorKeys: [SECRET] })
        .get(
          "/other",
          { paginated: { strategy: "cursor", item } },
          ({ response }) => response.paginate(books(3)) as never,
        )
        .get("/sizes", { paginated: { strategy: "page_number", item } }, ({ response }) =>
          response.paginate(books(3), { maxPageSize: 50 }),
        )
        .get("/alike", { paginated: { strategy: new PageNumberPagination(), item } }, ({ response }) =>
          response.paginate(books(3), { strategy: "page_number", defaultPageSize: 20 }),
        ),
    );
    const told = () => log.text.match(/paginated declares[^"]*/g) ?? [];

    for (const path of ["/other", "/other", "/sizes", "/sizes", "/alike"]) await client.get(path);

    expect(told()).toEqual([
      "paginated declares CursorPagination, but the handler uses PageNumberPagination",
      "paginated declares PageNumberPagination, but the handler uses PageNumberPagination with other options",
    ]);
    vi.stubEnv("NODE_ENV", "production");
    const quiet = logCatcher();
    const live = new PorticoApp({ logger: quiet, cursorKeys: [SECRET], publicUrl: "https://x.example" });
    live.get(
      "/other",
      { paginated: { strategy: "cursor", item } },
      ({ response }) => response.paginate(books(3)) as never,
    );
    await testClient(live).get("/other");
    expect(quiet.text).not.toContain("paginated declares");
  });

  it("is rejected if it is declared wrongly", () => {
    const declare = (options: object) => () => new PorticoApp().get("/items", options, () => 1);

    expect(declare({ paginated: { strategy: "pages", item } })).toThrow(
      'GET /items.paginated.strategy must be "page_number"',
    );
    expect(declare({ paginated: { strategy: "cursor" } })).toThrow("GET /items.paginated.item is required");
    expect(declare({ paginated: { item } })).toThrow("GET /items.paginated must be");
    expect(declare({ paginated: { strategy: new CursorPagination(), item }, response: item })).toThrow(
      "remove one of the two",
    );
  });
});
