import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import { PorticoApp } from "portico";
import { liveClient, testClient } from "portico/testing";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { overBoth } from "../../matrix.ts";

const quiet = (): PorticoApp => new PorticoApp({ logger: false });

describe.each([
  ["zod", z.object({ status: z.array(z.enum(["a", "b"])).optional() })],
  ["valibot", toStandardJsonSchema(v.object({ status: v.optional(v.array(v.picklist(["a", "b"]))) }))],
  ["arktype", type({ "status?": "('a' | 'b')[]" })],
] as const)("a list in a query schema of %s", (_name, query) => {
  overBoth(
    "takes a parameter that comes once, several times, or not at all",
    () => quiet().get("/books", { query }, ({ query }) => query),
    async (client) => {
      const [none, one, two, wrong] = [
        await client.get("/books"),
        await client.get("/books?status=a"),
        await client.get("/books?status=a&status=b"),
        await client.get("/books?status=c"),
      ];

      expect(none.json()).toEqual({});
      expect(one.json()).toEqual({ status: ["a"] });
      expect(two.json()).toEqual({ status: ["a", "b"] });
      expect(wrong.status).toBe(422);
    },
  );
});

describe("a query parameter that comes once", () => {
  const answerOf = async (query: z.ZodType, search: string): Promise<unknown> => {
    const app = quiet().get("/", { query }, ({ query }) => ({ query }));
    return ((await testClient(app).get(`/?${search}`)).json() as { query: unknown }).query;
  };
  const Tags = z.array(z.string()).meta({ id: "Tags" });

  it.each([
    ["a list with a default", z.object({ tag: z.array(z.string()).default(["x"]) }), { tag: ["1"] }],
    ["a list that may be null", z.object({ tag: z.array(z.string()).nullable() }), { tag: ["1"] }],
    ["a list by reference", z.object({ tag: Tags, other: Tags.optional() }), { tag: ["1"] }],
    ["a list in each of two shapes", z.union([z.object({ tag: Tags }), z.object({ tag: Tags })]), { tag: ["1"] }],
    ["a list of what is converted", z.object({ tag: z.array(z.coerce.number()) }), { tag: [1] }],
  ])("is a list of one for %s", async (_kind, query, read) => {
    expect(await answerOf(query, "tag=1")).toEqual(read);
  });

  it.each([
    ["text or a list", z.object({ tag: z.union([z.string(), z.array(z.string())]) })],
    ["anything", z.object({ tag: z.unknown() })],
    ["what makes its list itself", z.object({ tag: z.string().transform((text) => text) })],
    ["text in one of two shapes", z.union([z.object({ tag: Tags }), z.object({ tag: z.string() })])],
  ])("stays what it is for %s", async (_kind, query) => {
    expect(await answerOf(query, "tag=1")).toEqual({ tag: "1" });
  });

  it("is a list of one for a socket, too", async () => {
    const query = z.object({ tag: z.array(z.string()) });
    const client = await liveClient(
      quiet().socket("/ws", { query }, ({ socket, query }) => socket.send(JSON.stringify(query))),
    );
    const socket = await client.socket("/ws?tag=1");

    expect(await socket.next()).toBe('{"tag":["1"]}');
    await client.close();
  });
});

describe("the parameters of the pages of a route", () => {
  const item = z.object({ id: z.number() });
  const rows = Array.from({ length: 5 }, (_, index) => ({ id: index + 1 }));
  const query = z.strictObject({ author: z.string().optional() });

  overBoth(
    "are not checked by its query schema",
    () =>
      quiet()
        .get("/pages", { query, paginated: { strategy: "page_number", item } }, ({ response }) =>
          response.paginate(rows, { strategy: "page_number" }),
        )
        .get("/offsets", { query, paginated: { strategy: "limit_offset", item } }, ({ response, query }) =>
          response.header("x-query", JSON.stringify(query)).paginate(rows, { strategy: "limit_offset" }),
        )
        .get("/cursors", { query, paginated: { strategy: "cursor", item } }, ({ response }) =>
          response.paginate(rows, { strategy: "cursor" }),
        ),
    async (client) => {
      const pages = await client.get("/pages?page=2&page_size=2&author=Austen");
      const offsets = await client.get("/offsets?limit=2&offset=1&author=Austen");
      const first = (await client.get("/cursors?page_size=2")).json() as { pagination: { next_cursor: string } };
      const cursors = await client.get(`/cursors?page_size=2&cursor=${first.pagination.next_cursor}`);
      const unknown = await client.get("/pages?page=2&publisher=Murray");

      expect(pages.json()).toMatchObject({ items: [{ id: 3 }, { id: 4 }] });
      expect(offsets.json()).toMatchObject({ items: [{ id: 2 }, { id: 3 }] });
      expect(offsets.headers["x-query"]).toBe('{"author":"Austen"}');
      expect(cursors.json()).toMatchObject({ items: [{ id: 3 }, { id: 4 }] });
      expect(unknown.status).toBe(422);
    },
  );

  it("are its business where it declares them", async () => {
    const own = z.strictObject({ page: z.coerce.number<string>().max(3).default(1) });
    const app = quiet().get("/pages", { query: own, paginated: { strategy: "page_number", item } }, (args) =>
      args.response.header("x-page", String(args.query.page)).paginate(rows),
    );

    const [second, fourth] = [await testClient(app).get("/pages?page=2"), await testClient(app).get("/pages?page=4")];

    expect([second.status, second.headers["x-page"], fourth.status]).toEqual([200, "2", 422]);
  });

  it("are kept for a schema whose library has no JSON Schema", async () => {
    const own = v.object({ page: v.optional(v.string()) });
    const app = quiet().get("/pages", { query: own, paginated: { strategy: "page_number", item } }, (args) =>
      args.response.header("x-page", String(args.query.page)).paginate(rows),
    );

    expect((await testClient(app).get("/pages?page=2")).headers["x-page"]).toBe("2");
  });
});
