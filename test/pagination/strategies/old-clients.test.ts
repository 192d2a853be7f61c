import { PorticoApp } from "portico";
import { connection, Graph, type ObjectType, object, schema, t } from "portico/graphql";
import { CursorPagination } from "portico/pagination";
import { testClient } from "portico/testing";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { graphWarnings } from "../../audit/graph-warnings.ts";

const rows = Array.from({ length: 9 }, (_, at) => ({ id: at + 1 }));

describe("CursorPagination.decodeCursor", () => {
  const old = (id: number): string => Buffer.from(`id:${id}`).toString("base64url");
  const get = async (cursor: string, decodeCursor?: (cursor: string) => readonly unknown[] | null): Promise<any> => {
    const strategy = new CursorPagination({
      defaultPageSize: 3,
      ...(decodeCursor === undefined ? {} : { decodeCursor: decodeCursor as never }),
    });
    const app = new PorticoApp({ logger: false });
    app.get("/rows", ({ response }) => response.paginate(rows, { strategy }));
    const client = testClient(app);
    const response = await client.get("/rows", { query: { cursor } });
    return { status: response.status, ...(response.json() as object), client };
  };
  const decode = (cursor: string): readonly [number] | null => {
    const id = /^id:(\d+)$/.exec(Buffer.from(cursor, "base64url").toString())?.[1];
    return id === undefined ? null : [Number(id)];
  };

  it("reads the cursors that another server has given out, and sends its own", async () => {
    const { items, pagination, client } = await get(old(4), decode);

    expect(items).toEqual([{ id: 5 }, { id: 6 }, { id: 7 }]);
    const next = (await client.get("/rows", { query: { cursor: pagination.next_cursor } })).json();
    expect(next.items).toEqual([{ id: 8 }, { id: 9 }]);
  });

  it("is named by the access report, on routes and in GraphQL", async () => {
    const strategy = new CursorPagination({ decodeCursor: decode });
    const item = z.object({ id: z.number() });
    const Row: ObjectType<{ id: number }> = object("Row", { id: t.int });
    const warnings = async (one: CursorPagination): Promise<readonly string[]> => {
      const app = new PorticoApp({ logger: false });
      app.get("/rows", { paginated: { strategy: one, item } }, ({ response }) =>
        response.paginate(rows, { strategy: one }),
      );
      new Graph(schema({ query: { rows: connection(Row, one)(() => rows) } }), { ide: false }).mount(app);
      return graphWarnings(app);
    };

    expect(await warnings(new CursorPagination())).toEqual([]);
    expect(await warnings(strategy)).toEqual([
      expect.stringMatching(/^GET \/rows reads the cursors of another server/),
      expect.stringMatching(/^Query\.rows reads the cursors of another server/),
    ]);
  });

  it.each([
    ["is none of them", "nonsense", decode],
    ["has too many values", old(4), () => [4, 5]],
    ["has a value that is no key", old(4), () => [{}]],
    ["comes without a decoder", old(4), undefined],
  ])("rejects a cursor that %s", async (_title, cursor, decoder) => {
    expect(await get(cursor, decoder)).toMatchObject({ status: 400 });
  });
});
