import { ConfigurationError, every, HttpException, isEqual, isIn, not, PorticoApp, Router, rule } from "portico";
import { SimpleUser, useAuth } from "portico/auth";
import { field, Graph, schema, subscription, t } from "portico/graphql";
import { CursorPagination, SyncDataHandler } from "portico/pagination";
import { openDatabase, type PorticoTables, tableHandler } from "portico/sql";
import { liveClient, logCatcher, testClient } from "portico/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as z from "zod";

interface Note {
  readonly id: number;
  readonly org: string | null;
  readonly text: string;
}
const notes: readonly Note[] = Array.from({ length: 60 }, (_, at) => {
  const org = ["a", "b", null][at % 3] ?? null;
  return { id: at + 1, org, text: `text of ${org ?? "no organisation"} ${at + 1}` };
});
const database = openDatabase<PorticoTables & { notes: Note }>("sqlite::memory:");
beforeAll(async () => {
  const table = database.schema.createTable("notes").addColumn("id", "integer", (column) => column.primaryKey());
  await table.addColumn("org", "text").addColumn("text", "text").execute();
  await database.insertInto("notes").values(notes).execute();
});
afterAll(() => database.destroy());

const ownNotes = rule<Note>({
  name: "note.own",
  allows: (user, note) => note.org === user.identity,
  where: (user) => isEqual("org", user.identity),
});
const ann = new SimpleUser("a");
const bob = new SimpleUser("b", ["read:all"]);
const item = z.object({ id: z.number(), text: z.string() });
const all = () => tableHandler(database.selectFrom("notes").selectAll());

function shop(): PorticoApp {
  const strategy = new CursorPagination({ totals: "exact", defaultPageSize: 5 });
  return new PorticoApp({ logger: false, openapi: true })
    .get("/notes/:id", { auth: true, path: z.object({ id: z.coerce.number() }) }, async ({ ctx, path }) =>
      ctx.authorize(
        ownNotes,
        await database.selectFrom("notes").selectAll().where("id", "=", path.id).executeTakeFirst(),
      ),
    )
    .get("/cursor", { paginated: { strategy, item, rule: ownNotes } }, ({ response }) =>
      response.apaginate(all(), { strategy }),
    )
    .get("/unruled", { paginated: { strategy, item } }, ({ response }) => response.apaginate(all(), { strategy }))
    .get("/pages", { paginated: { strategy: "page_number", item, rule: ownNotes } }, ({ response }) =>
      response.apaginate(all(), { strategy: "page_number" }),
    )
    .get("/memory", { paginated: { strategy: "page_number", item, rule: ownNotes } }, ({ response }) =>
      response.paginate([...notes], { strategy: "page_number" }),
    )
    .get(
      "/others",
      { paginated: { strategy: "page_number", item, rule: every(true, not(ownNotes)) } },
      ({ response }) => response.apaginate(all(), { strategy: "page_number" }),
    );
}

describe.each([
  ["inject", testClient],
  ["a socket", liveClient],
] as const)("a rule on a route, over %s", (_name, open) => {
  it("gives the same response for a foreign id and an unknown one", async () => {
    const over = await open(shop());
    const client = over.as(ann);
    const read = async (id: number): Promise<string> => {
      const response = await client.get(`/notes/${id}`);
      const { status, headers } = response;
      const { date: _date, "x-request-id": _id, ...others } = headers;
      return JSON.stringify({
        status,
        body: response.text().replaceAll(/"(?:correlation_id|instance)":"[^"]*"/g, ""),
        others,
      });
    };

    expect(await read(1)).toContain("text of a 1");
    expect(await read(2)).toContain("404");
    expect(await read(2)).toBe(await read(999));
    expect((await over.get("/notes/1")).status).toBe(401);
    if ("close" in over) await (over as { close(): Promise<void> }).close();
  });
});

describe("a list with a rule", () => {
  const client = testClient(shop());
  const ids = (body: any): number[] => body.items.map(({ id }: Note) => id);
  const own = (org: string): number[] => notes.filter((note) => note.org === org).map(({ id }) => id);

  it.each(["/pages", "/memory", "/cursor"])(
    "has its items, total and links only from the rows it allows: %s",
    async (path) => {
      const found: number[] = [];
      for (let url: string | undefined = `${path}?page_size=7`; url !== undefined; ) {
        const body: any = (await client.as(ann).get(url)).json();
        expect(body.pagination.total_items).toBe(20);
        expect(body.items.every(({ text }: Note) => text.startsWith("text of a"))).toBe(true);
        found.push(...ids(body));
        url = (body.pagination.links.next as string | undefined)?.replace(/^https?:\/\/[^/]+/, "");
      }
      expect(found).toEqual(own("a"));
      expect((await client.get(path)).json()).toMatchObject({ items: [], pagination: { total_items: 0 } });
    },
  );

  it("combines with others", async () => {
    const body: any = (await client.as(ann).get("/others?page_size=100")).json();

    expect(ids(body)).toEqual(notes.filter(({ org }) => org !== "a").map(({ id }) => id));
    expect((await client.get("/others")).json()).toMatchObject({ items: [] });
  });

  it("binds its cursors to the rule, and shows another user only its own rows with them", async () => {
    const { pagination }: any = (await client.as(ann).get("/cursor")).json();
    const cursor = encodeURIComponent(pagination.next_cursor);

    expect((await client.as(ann).get(`/unruled?cursor=${cursor}`)).json()).toMatchObject({ code: "cursor_mismatch" });
    const theirs: any = (await client.as(bob).get(`/cursor?cursor=${cursor}`)).json();
    expect(theirs.items.every(({ text }: Note) => text.startsWith("text of b"))).toBe(true);
  });

  it("is described in the OpenAPI document", async () => {
    const document: any = (await client.get("/openapi.json")).json();

    expect(document.paths["/pages"].get.responses["200"].description).toBe(
      "OK. Only the items that the rule note.own allows.",
    );
  });

  it("fails with 500 if where includes a row that allows refuses, and the log names the rule", async () => {
    const logger = logCatcher();
    const torn = rule<Note>({ name: "note.torn", allows: ownNotes.allows, where: () => isIn("org", ["a", "b"]) });
    const app = new PorticoApp({ logger }).get(
      "/torn",
      { paginated: { strategy: "page_number", item, rule: torn } },
      ({ response }) => response.apaginate(all()),
    );
    const response = await testClient(app).as(ann).get("/torn");

    expect(response.status).toBe(500);
    expect(response.text()).not.toContain("text of");
    expect(logger.text).toContain("note.torn");
    expect(logger.text).not.toContain("text of b");
  });

  it.each<[string, (args: any) => unknown]>([
    ["returns a list", () => [...notes]],
    ["returns a page that it made itself", () => ({ items: [...notes], pagination: { total_items: 60 } })],
    ["returns such a page later", async () => ({ items: [...notes], pagination: {} })],
    ["sends such a page", ({ response }) => response.json({ items: [...notes], pagination: {} })],
    ["redirects", ({ response }) => response.redirect("/elsewhere")],
    ["sends text", ({ response }) => response.text(notes.map(({ text }) => text).join())],
    ["sends such a page with another status", ({ response }) => response.status(404).json({ items: [...notes] })],
  ])("fails with 500 if the handler %s, and sends none of its data", async (_name, handler) => {
    const logger = logCatcher();
    const app = new PorticoApp({ logger }).get(
      "/own-page",
      { paginated: { strategy: "page_number", item, rule: ownNotes } },
      handler as never,
    );
    for (const client of [testClient(app), testClient(app).as(ann)]) {
      const response = await client.get("/own-page");
      expect(response.status).toBe(500);
      expect(response.text()).not.toContain("text of");
    }
    expect(logger.text).toContain(
      "the handler of a route with paginated.rule did not call response.paginate() or response.page(), which apply the rule",
    );
    expect(logger.text).not.toContain("text of");
  });

  it("leaves an exception of the handler as it is", async () => {
    const app = new PorticoApp({ logger: false }).get(
      "/gone",
      { paginated: { strategy: "page_number", item, rule: ownNotes } },
      async () => {
        throw new HttpException(410, "The notes are gone");
      },
    );
    const response = await testClient(app).as(ann).get("/gone");

    expect([response.status, (response.json() as any).detail]).toEqual([410, "The notes are gone"]);
  });

  it("is rejected for a handler that cannot be restricted, and for a rule without where over a table", async () => {
    class Numbers extends SyncDataHandler<Note> {
      getTotalItems = (): number => 60;
      getItems = (): readonly Note[] => notes;
    }
    const half = rule<Note>({ name: "note.half", allows: (user, note) => note.org === user.identity });
    const logger = logCatcher();
    const app = new PorticoApp({ logger })
      .get("/numbers", { paginated: { strategy: "page_number", item, rule: ownNotes } }, ({ response }) =>
        response.paginate(new Numbers()),
      )
      .get("/half", { paginated: { strategy: "page_number", item, rule: half } }, ({ response }) =>
        response.apaginate(all()),
      );

    for (const path of ["/numbers", "/half"]) expect((await testClient(app).as(ann).get(path)).status).toBe(500);
    expect(logger.text).toContain("the rule note.own cannot restrict the data handler Numbers");
    expect(logger.text).toContain(
      "the rule note.half cannot restrict the data handler TableHandler without a condition",
    );
  });
});

describe("a rule where there is no object", () => {
  it.each([
    ["a route", () => new PorticoApp().get("/x", { auth: ownNotes as never }, () => 1), "GET /x.auth"],
    ["a socket", () => new PorticoApp().socket("/x", { auth: ownNotes as never }, () => {}), "socket /x.auth"],
    ["a router", () => new Router({ auth: every(true, ownNotes) as never }), "Router.auth"],
    ["an endpoint", () => new Graph(hello, { auth: not(ownNotes) as never }), "Graph.auth"],
  ])("is a ConfigurationError on %s", (_name, declare, option) => {
    expect(declare).toThrow(ConfigurationError);
    expect(declare).toThrow(
      `${option} is the rule note.own, which decides about an object, and there is none here: call ctx.authorize(rule, object) in the handler instead`,
    );
  });
});

const hello = schema({
  query: { hello: field(t.string)(() => "world") },
  subscription: {
    ticks: subscription(t.int)(async function* () {
      yield 1;
    }),
  },
});

describe("the auth of a router", () => {
  const inner = new Router({ auth: useAuth({ permissions: ["read:all"] }) })
    .get("/both", ({ user }) => user.identity)
    .get("/open", { auth: false }, () => "open");
  const outer = new Router({ prefix: "/in", auth: true })
    .get("/one", ({ user }) => user.identity)
    .get("/own", { auth: (user) => user.identity === "b" }, () => "own")
    .get("/open", { auth: false }, () => "open")
    .socket("/socket", ({ socket }) => socket.send("hi"))
    .mount("/deep", inner);
  new Graph(hello).mount(outer);
  const app = new PorticoApp({ logger: false }).mount("", outer);
  const client = testClient(app);
  const status = async (path: string, user?: SimpleUser): Promise<number> =>
    (await (user === undefined ? client : client.as(user)).get(path)).status;

  it("guards its routes, and adds up with their own and with those of routers mounted in it", async () => {
    expect([await status("/in/one"), await status("/in/one", ann)]).toEqual([401, 200]);
    expect([await status("/in/own", ann), await status("/in/own", bob)]).toEqual([403, 200]);
    expect([
      await status("/in/deep/both"),
      await status("/in/deep/both", ann),
      await status("/in/deep/both", bob),
    ]).toEqual([401, 403, 200]);
  });

  it("is dropped by a route of its own with auth: false, and by no other", async () => {
    expect(await status("/in/open")).toBe(200);
    expect([await status("/in/deep/open"), await status("/in/deep/open", ann)]).toEqual([401, 200]);
  });

  it("guards sockets and a GraphQL endpoint, also over its socket", async () => {
    const over = await liveClient(app);
    const query = { body: { query: "{ hello }" } };

    expect((await over.post("/in/graphql", query)).status).toBe(401);
    expect((await over.as(ann).post("/in/graphql", query)).status).toBe(200);
    await expect(over.socket("/in/socket")).rejects.toThrow("401");
    const socket = await over.socket("/in/graphql", { protocols: ["graphql-transport-ws"] });
    socket.send(JSON.stringify({ type: "connection_init" }));
    expect((await socket.closed).code).toBe(4403);
    await over.close();
  });
});
