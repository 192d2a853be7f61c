import { isEqual, PorticoApp, rule } from "portico";
import { SimpleUser } from "portico/auth";
import { connection, Graph, type ObjectType, object, schema, t } from "portico/graphql";
import { AsyncDataHandler, CursorPagination, LimitOffsetPagination, type Scopable } from "portico/pagination";
import { logCatcher, type TestClient, testClient } from "portico/testing";
import { beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";

interface Note {
  readonly id: number;
  readonly org: string;
}

/** The rows, which another request changes while a page is being read. */
let stored: Note[] = [];
/** The row that is deleted as soon as the rule looks at it. */
let deleted = 0;
beforeEach(() => {
  stored = [1, 2, 3].map((id) => ({ id, org: "a" }));
});

class Notes extends AsyncDataHandler<Note> implements Scopable<Note> {
  scopedTo(): Notes {
    return this;
  }
  async getTotalItems(): Promise<number> {
    return stored.length;
  }
  async getItems(offset: number, limit: number): Promise<readonly Note[]> {
    return stored.slice(offset, offset + limit);
  }
}

const ownNotes = rule<Note>({
  name: "note.own",
  allows: async (_user, { id }) => {
    if (id !== deleted) return true;
    stored = stored.filter((row) => row.id !== id);
    return false;
  },
  where: (user) => isEqual("org", user.identity),
});

const byOffset = new LimitOffsetPagination();
const Note: ObjectType<Note> = object("Note", { id: t.int }, { auth: ownNotes });
const log = logCatcher();
function client(): TestClient {
  log.clear();
  const app = new PorticoApp({ logger: log });
  const item = z.object({ id: z.int() });
  app.get("/notes", { auth: true, paginated: { strategy: byOffset, item, rule: ownNotes } }, ({ response }) =>
    response.apaginate(new Notes(), { strategy: byOffset }),
  );
  new Graph(schema({ query: { notes: connection(Note, new CursorPagination())(() => new Notes()) } })).mount(app);
  return testClient(app).as(new SimpleUser("a"));
}
const errors = (): string[] => log.lines.filter(({ level }) => level === "error").map(({ msg }) => msg);

describe("a row that changes between `where` and `allows`", () => {
  it("is left out of a page", async () => {
    deleted = 2;
    const response = await client().get("/notes");

    expect(response.status).toBe(200);
    expect((response.json() as { items: unknown }).items).toEqual([{ id: 1 }, { id: 3 }]);
    expect(errors()).toEqual([]);
  });

  it("is left out of a connection", async () => {
    deleted = 2;

    expect(await client().graphql("{ notes { nodes { id } } }")).toMatchObject({
      data: { notes: { nodes: [{ id: 1 }, { id: 3 }] } },
    });
    expect(errors()).toEqual([]);
  });
});
