import { ConfigurationError, isEqual, PorticoApp, rule } from "portico";
import { SimpleUser } from "portico/auth";
import { AsyncListDataHandler, CursorPagination } from "portico/pagination";
import { logCatcher, testClient } from "portico/testing";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { overBoth } from "../../matrix.ts";

interface Note {
  readonly id: number;
  readonly owner: string;
  readonly text: string;
}
const notes: readonly Note[] = Array.from({ length: 6 }, (_, index) => ({
  id: index + 1,
  owner: index % 2 === 0 ? "ann" : "bob",
  text: `text ${index + 1}`,
}));
const rows = new AsyncListDataHandler(notes, { name: "notes" });
const ownNotes = rule<Note>({
  name: "note.own",
  allows: (user, note) => note.owner === user.identity,
  where: (user) => isEqual("owner", user.identity),
});
const ann = new SimpleUser("ann");
const byId = new CursorPagination({ defaultPageSize: 2 });

describe("response.page", () => {
  overBoth(
    "returns the items and the metadata for the handler's own body, and sets the links",
    () =>
      new PorticoApp({ logger: false }).get("/notes", async ({ response }) => {
        const { items, pagination } = await response.page(rows, { defaultPageSize: 4 });
        return response.status(203).json({ title: "Notes", texts: items.map(({ text }) => text), pagination });
      }),
    async (client) => {
      const answer = await client.get("/notes?page=2");

      expect(answer.status).toBe(203);
      expect(answer.json()).toMatchObject({
        title: "Notes",
        texts: ["text 5", "text 6"],
        pagination: { page: 2, total_items: 6 },
      });
      expect(answer.headers["link"]).toContain('rel="prev"');
    },
  );

  it("sends no body itself", async () => {
    const app = new PorticoApp({ logger: false }).get("/", async ({ response }) => {
      await response.page(notes);
    });

    expect((await testClient(app).get("/")).status).toBe(204);
  });

  it("rejects a request as paginate does", async () => {
    const app = new PorticoApp({ logger: false }).get("/notes", async ({ response }) => ({
      page: await response.page(rows, { strategy: byId, cursorScope: { owner: "ann" } }),
    }));

    const answer = await testClient(app).get("/notes?cursor=nonsense");

    expect([answer.status, answer.json()]).toMatchObject([400, { code: "invalid_cursor", parameter: "cursor" }]);
  });

  it("applies the rule of the route, whose items it may map", async () => {
    const paginated = { strategy: byId, item: z.object({ upper: z.string() }), rule: ownNotes };
    const app = new PorticoApp({ logger: false }).get("/notes", { auth: true, paginated }, async ({ response }) => {
      const page = await response.page(notes, { strategy: byId });
      return response.json({ ...page, items: page.items.map(({ text }) => ({ upper: text.toUpperCase() })) });
    });

    const answer = await testClient(app).as(ann).get("/notes");

    expect(answer.json()).toMatchObject({
      items: [{ upper: "TEXT 1" }, { upper: "TEXT 3" }],
      pagination: { total_items: 3, has_more: true },
    });
  });

  it("applies the rule of a route whose response schema describes the whole body", async () => {
    const body = z.object({ owner: z.string(), notes: z.array(z.object({ id: z.number() })) });
    const options = { auth: true, paginated: { strategy: byId, rule: ownNotes }, response: body } as const;
    const app = new PorticoApp({ logger: false }).get("/notes", options, async ({ response, user }) => {
      const page = await response.page(notes, { strategy: byId });
      return { owner: user.identity, notes: [...page.items] };
    });
    const client = testClient(app).as(ann);

    const document = (await client.get("/openapi.json")).json() as any;
    expect((await client.get("/notes")).json()).toEqual({ owner: "ann", notes: [{ id: 1 }, { id: 3 }] });
    const { parameters, responses } = document.paths["/notes"].get;
    expect(parameters.map(({ name }: { name: string }) => name)).toEqual(["cursor", "page_size"]);
    expect(responses[200].content["application/json"].schema.properties).toHaveProperty("owner");
    expect(responses).toHaveProperty("400");
  });

  it("is missed in a route with a rule that sends something else", async () => {
    const log = logCatcher();
    const options = { auth: true, paginated: { strategy: byId, rule: ownNotes }, response: z.array(z.any()) } as const;
    const app = new PorticoApp({ logger: log }).get("/notes", options, () => [...notes]);

    const answer = await testClient(app).as(ann).get("/notes");

    expect(answer.status).toBe(500);
    expect(log.text).toContain("did not call response.paginate() or response.page(), which apply the rule");
  });

  it("that is neither returned nor awaited is a 500, not an unhandled rejection", async () => {
    const log = logCatcher();
    const app = new PorticoApp({ logger: log }).get("/notes", ({ response }) => {
      void response.page(rows);
      return { ok: true };
    });

    expect((await testClient(app).get("/notes?page=0")).status).toBe(500);
    expect(log.text).toContain("response.page was neither returned nor awaited");
  });
});

describe("a handler that calls response.paginate", () => {
  it.each<[string, (app: PorticoApp) => unknown]>([
    [
      "returns a value",
      (app) =>
        app.get("/", async ({ response }) => {
          await response.apaginate(rows);
          return { items: notes };
        }),
    ],
    [
      "sets another body",
      (app) =>
        app.get("/", ({ response }) => {
          response.paginate(notes);
          return response.json({ items: notes });
        }),
    ],
  ])("and then %s gets a 500 that the log explains", async (_case, declare) => {
    const log = logCatcher();
    const app = new PorticoApp({ logger: log });
    declare(app);

    const answer = await testClient(app).get("/");

    expect([answer.status, answer.headers["link"]]).toEqual([500, undefined]);
    expect(log.text).toContain("called response.paginate and then sent another body");
  });

  it("may set headers and a status afterwards, and an error of it has its own response", async () => {
    const app = new PorticoApp({ logger: false })
      .get("/late", async ({ response }) => {
        const sent = await response.apaginate(rows);
        response.status(203).header("x-late", "1");
        return sent;
      })
      .get("/failing", async ({ response }) => {
        await response.apaginate(rows);
        throw new RangeError("no");
      })
      .addExceptionHandler(RangeError, (_request, response) => response.status(418).json({}));
    const client = testClient(app);

    expect([(await client.get("/late")).status, (await client.get("/failing")).status]).toEqual([203, 418]);
  });
});

describe("paginated", () => {
  it("needs item or response, and not both", () => {
    const declare = (options: unknown) => () => new PorticoApp().get("/", options as {}, () => null);
    const item = z.object({});

    expect(declare({ paginated: { strategy: "cursor" } })).toThrow(
      new ConfigurationError("GET /.paginated.item", "is required unless response describes the body"),
    );
    expect(declare({ paginated: { strategy: "cursor", item }, response: item })).toThrow(
      new ConfigurationError("GET /.paginated.item", "cannot be combined with response: remove one of the two"),
    );
  });
});
