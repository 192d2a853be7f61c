import { type CursorMetadata, CursorPagination, LimitOffsetPagination, SyncListDataHandler } from "portico/pagination";
import { describe, expect, it } from "vitest";
import { bodyOf, ids, publicFilters, serveOnce } from "./ways.ts";

// The values that drivers return: large integers as bigints, decimals and times as text, booleans as 0 and 1.
const rows = [
  { id: "a", serial: 9007199254740992n, isNew: 0, at: "2026-01-01T00:00:00Z", size: 1n, word: "x" },
  { id: "b", serial: 9007199254740993n, isNew: 1, at: "2026-01-02T00:00:00+02:00", size: 2n, word: 7 },
  { id: "c", serial: 7, isNew: 1, at: 20_260_103, size: "3", word: null },
].map((row) => ({ ...row, toJSON: () => ({ id: row.id }) }));
const filterable = publicFilters({
  serial: { type: "id", by: ["equal", "in"] },
  isNew: { type: "boolean", by: ["equal"] },
  at: { type: "date", by: ["range"] },
  size: { type: "number", by: ["range"] },
  word: { type: "text", by: ["equal", "prefix", "null"] },
});

describe("a filter of a list in memory", () => {
  it.each([
    ["serial=9007199254740993", ["b"]],
    ["serial.in=9007199254740992,7", ["a", "c"]],
    ["serial=7.0", []],
    ["isNew=true", ["b", "c"]],
    ["isNew=false", ["a"]],
    ["at.gte=2026-01-01T22:00:00Z", ["b"]],
    ["at.lt=2026-01-01T22:00:00Z", ["a"]],
    ["size.gt=1", ["b", "c"]],
    ["size.lte=1", ["a"]],
    ["word.startsWith=7", []],
    ["word=x", ["a"]],
    ["word.isNull=true", ["c"]],
  ])("compares the values that a driver returns: %s", async (query, expected) => {
    const strategy = new LimitOffsetPagination({ filterable });
    const client = await serveOnce((app) => app.get("/rows", ({ response }) => response.paginate(rows, { strategy })));

    expect(ids(bodyOf(await client.get(`/rows?${query}`)))).toEqual(expected);
  });

  it("keeps the name of the list, so its cursors work wherever the list is served", async () => {
    const list = new SyncListDataHandler(rows, { name: "rows" });
    const strategy = new CursorPagination({ filterable, defaultPageSize: 1 });
    const client = await serveOnce((app) =>
      app
        .get("/one", ({ response }) => response.paginate(list, { strategy }))
        .get("/other", ({ response }) => response.paginate(list, { strategy })),
    );
    const { next_cursor } = bodyOf<CursorMetadata>(await client.get("/one?isNew=true")).pagination;

    expect(ids(bodyOf(await client.get(`/other?isNew=true&cursor=${next_cursor}`)))).toEqual(["c"]);
  });
});
