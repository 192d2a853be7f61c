import * as fc from "fast-check";
import { PorticoApp } from "portico";
import {
  AsyncDataHandler,
  type CursorMetadata,
  CursorPagination,
  InvalidSortError,
  PaginationError,
  SyncListDataHandler,
} from "portico/pagination";
import { logCatcher } from "portico/testing";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import {
  bodyOf,
  bothWays,
  ids,
  publicColumns,
  queryOf,
  range,
  type Serve,
  serveOnce,
  target,
  thereAndBack,
} from "../ways.ts";

interface Task {
  readonly id: number;
  readonly priority: number | null;
  readonly title: string;
}

const tasks: readonly Task[] = range(1, 12).map((id) => ({
  id,
  priority: id % 4 === 0 ? null : id % 3,
  title: `t${String((id * 5) % 12).padStart(2, "0")}`,
}));
const sorted = new CursorPagination({
  order: [["title", "asc"]],
  sortable: publicColumns("priority", "id"),
  defaultPageSize: 5,
});
const page = (answer: Parameters<typeof bodyOf>[0]) => bodyOf<CursorMetadata>(answer);
const listed = (serve: Serve, strategy = sorted as CursorPagination<any>) =>
  serve((app) => app.get("/tasks", ({ response }) => response.paginate(tasks, { strategy })));
/** A list has its nulls last, going up. */
const rank = ({ priority }: Task): number => priority ?? Number.POSITIVE_INFINITY;
const compare = (one: number, other: number): number => (one === other ? 0 : one < other ? -1 : 1);

bothWays("a sort order from the client", (serve) => {
  it("applies to all pages, forward and backward, and stays in the links", async () => {
    const client = await listed(serve);
    const expected = tasks.toSorted((a, b) => compare(rank(b), rank(a)) || a.id - b.id).map(({ id }) => id);

    let body = page(await client.get("/tasks?sort=-priority,id"));
    const forward = ids(body);
    while (body.pagination.links.next !== undefined) {
      expect(queryOf(body.pagination.links.next)).toMatchObject({ sort: "-priority,id" });
      expect(queryOf(body.pagination.links.first)).toMatchObject({ sort: "-priority,id" });
      body = page(await client.get(target(body.pagination.links.next)));
      forward.push(...ids(body));
    }
    const backward = ids(body);
    while (body.pagination.links.prev !== undefined) {
      body = page(await client.get(target(body.pagination.links.prev)));
      backward.unshift(...ids(body));
    }

    expect(forward).toEqual(expected);
    expect(backward).toEqual(expected);
  });

  it("is optional: without it, the strategy decides", async () => {
    const client = await listed(serve);

    const body = page(await client.get("/tasks?page_size=12"));

    expect(body.items.map(({ title }) => title)).toEqual(tasks.map(({ title }) => title).toSorted());
  });

  it.each([
    ["sort=", "sort is empty: it accepts priority, id. Prefix a name with - for descending order"],
    ["sort=title", "sort accepts only priority, id. Prefix a name with - for descending order"],
    ["sort=-", "sort accepts only priority, id"],
    ["sort=--id", "sort accepts only priority, id"],
    ["sort=id,", "sort accepts only priority, id"],
    ["sort=%20id", "sort accepts only priority, id"],
    ["sort=constructor", "sort accepts only priority, id"],
    ["sort=id,-id", "sort repeats a name"],
    ["sort=id,priority,id,id", "sort accepts at most 3 names"],
    ["sort=id&sort=priority", "sort was given more than once"],
  ])("%s is a 400", async (query, sentence) => {
    const client = await listed(serve);

    const answer = await client.get(`/tasks?${query}`);

    expect(answer.status).toBe(400);
    expect(answer.json()).toMatchObject({
      code: "invalid_sort",
      parameter: "sort",
      detail: expect.stringContaining(sentence),
    });
  });

  it("[PAG-37] [pagination:PG-076] binds its cursors: those of another order are rejected", async () => {
    const client = await listed(serve);
    const byPriority = page(await client.get("/tasks?sort=-priority")).pagination.next_cursor;

    for (const query of ["", "&sort=priority", "&sort=-priority,id", "&sort=id"])
      expect((await client.get(`/tasks?cursor=${byPriority}${query}`)).json()).toMatchObject({
        code: "cursor_mismatch",
        parameter: "cursor",
      });
    expect((await client.get(`/tasks?cursor=${byPriority}&sort=-priority&page_size=2`)).status).toBe(200);
    // The unique key comes last anyway, in the direction of the last column.
    expect((await client.get(`/tasks?cursor=${byPriority}&sort=-priority,-id`)).status).toBe(200);
  });
});

describe("a sortable strategy", () => {
  it("has a configurable parameter name and column limit", async () => {
    const own = new CursorPagination({
      sortField: "id",
      sortable: publicColumns("id", "title"),
      sortParam: "by",
      maxSortColumns: 1,
    });
    const client = await listed(serveOnce, own);

    expect(ids(page(await client.get("/tasks?by=-id&sort=nonsense&page_size=3")))).toEqual([12, 11, 10]);
    expect((await client.get("/tasks?by=id,title")).json()).toMatchObject({
      parameter: "by",
      detail: "by accepts at most 1 name",
    });
  });

  it("is required to read the parameter at all", async () => {
    const client = await listed(serveOnce, new CursorPagination({ defaultPageSize: 3 }));

    expect(ids(page(await client.get("/tasks?sort=-id")))).toEqual([1, 2, 3]);
  });

  it("sorts values of different kinds in memory: booleans, numbers, dates, texts", async () => {
    const values = ["a", new Date(5), 7, 2n, true, "0", 3, false, new Date(1), 4n];
    const rows = values.map((value, id) => ({ id, value, toJSON: () => ({ id }) }));
    const client = await serveOnce((app) =>
      app.get("/rows", ({ response }) => response.paginate(rows, { strategy: "cursor", sortField: "value" })),
    );

    expect(ids(bodyOf(await client.get("/rows"))).map((id) => values[id as number])).toEqual([
      false,
      true,
      2n,
      3,
      4n,
      7,
      new Date(1),
      new Date(5),
      "0",
      "a",
    ]);
    expect((await thereAndBack(client, "/rows?page_size=3")).backward).toHaveLength(10);
  });

  it("throws an error that can be handled by its class", async () => {
    const client = await serveOnce((app) =>
      app
        .addExceptionHandler(InvalidSortError, (_request, response, exc) =>
          response.status(400).json({ isOne: exc instanceof PaginationError, detail: exc.message }),
        )
        .get("/tasks", ({ response }) => response.paginate(tasks, { strategy: sorted })),
    );

    expect((await client.get("/tasks?sort=x")).json()).toMatchObject({ isOne: true });
  });

  it.each([
    [{ sortable: [] }, "CursorPagination.sortable must be a list of distinct columns"],
    [{ sortable: ["id", "id"] }, "CursorPagination.sortable must be a list of distinct columns"],
    [{ sortable: ["id", 1] }, "CursorPagination.sortable must be a list of distinct columns"],
    [{ order: [["id"]] }, "CursorPagination.order must be"],
    [{ order: ["id"] }, "CursorPagination.order must be"],
    [{ order: [] }, "CursorPagination.order must be"],
    [{ order: [["id", "up"]] }, "CursorPagination.order must be"],
    [{ order: [["id", "asc", 1]] }, "CursorPagination.order must be"],
    [{ order: [["id", "asc"]], sortField: "id" }, "CursorPagination accepts either sortField or order, not both"],
    [{ sortable: ["-id"] }, "CursorPagination.sortable must be a list of distinct columns"],
    [{ sortable: ["a,b"] }, "CursorPagination.sortable must be a list of distinct columns"],
    [{ sortable: [{ column: "id" }] }, "CursorPagination.sortable must be a list of distinct columns"],
    [{ sortable: [{ column: "id", public: false }] }, "CursorPagination.sortable must be a list of distinct columns"],
    [{ sortable: { a: { public: true } } }, "CursorPagination.sortable must be a list of distinct columns"],
    [{ sortable: ["id", { column: "id", public: true }] }, "CursorPagination.sortable must be a list of distinct"],
    [{ sortable: { a: { column: "id", public: true, nulls: "last" } } }, "CursorPagination.sortable must be a list"],
    [{ sortable: "id" }, "CursorPagination.sortable must be a list of distinct columns"],
    [{ sortParam: "by" }, "CursorPagination.sortParam requires sortable"],
    [{ maxSortColumns: 2 }, "CursorPagination.maxSortColumns requires sortable"],
    [{ sortable: ["id"], sortParam: "cursor" }, "CursorPagination.sortParam must be a name that no other"],
    [{ sortable: ["id"], omitFromLinks: ["sort"] }, 'CursorPagination.omitFromLinks must not contain "sort"'],
    [{ sortable: ["id"], maxSortColumns: 0 }, "CursorPagination.maxSortColumns must be a positive integer"],
  ])("%j is rejected when it is created", (options, sentence) => {
    expect(() => new CursorPagination(options as object)).toThrow(sentence);
  });

  it("rejects a handler that cannot sort", async () => {
    class Plain extends AsyncDataHandler<Task> {
      async getTotalItems(): Promise<number> {
        return tasks.length;
      }
      async getItems(offset: number, limit: number): Promise<readonly Task[]> {
        return tasks.slice(offset, offset + limit);
      }
    }
    const log = logCatcher();
    const client = await serveOnce(
      (app) => app.get("/tasks", ({ response }) => response.apaginate(new Plain(), { strategy: sorted })),
      { logger: log },
    );

    expect((await client.get("/tasks")).status).toBe(500);
    expect(log.text).toContain("CursorPagination.sortable requires a data handler that can sort");
    expect(log.text).toContain("implement getItemsAfter in Plain");
  });

  it("[PAG-44] lists the sortable columns in the document", async () => {
    const { Validator } = await import("@seriousme/openapi-schema-validator");
    const item = z.object({ id: z.number() });
    const app = new PorticoApp({ logger: false }).get(
      "/tasks",
      { paginated: { strategy: sorted, item } },
      ({ response }) => response.paginate(tasks, { strategy: sorted }),
    );

    const { parameters } = (app.openapi().paths["/tasks"] as Record<string, Record<string, any>>)["get"] as any;

    expect(parameters.at(-1)).toEqual({
      name: "sort",
      in: "query",
      description: expect.any(String),
      style: "form",
      explode: false,
      schema: {
        type: "array",
        items: { type: "string", enum: ["priority", "-priority", "id", "-id"] },
        minItems: 1,
        maxItems: 2,
      },
    });
    expect(await new Validator().validate(JSON.parse(JSON.stringify(app.openapi())))).toMatchObject({ valid: true });
  });

  const cell = fc.oneof(
    { weight: 1, arbitrary: fc.constant(null) },
    { weight: 4, arbitrary: fc.oneof(fc.integer({ min: 0, max: 3 }), fc.constantFrom("a", "b")) },
  );
  const way = fc.constantFrom("", "-");

  it("[PAG-25] [PAG-26] returns every row once in any order that it allows", async () => {
    const strategy = new CursorPagination({ sortField: "id", sortable: publicColumns("a", "b", "id") });
    let handler = new SyncListDataHandler<object>([]);
    const client = await serveOnce((app) =>
      app.get("/rows", ({ response }) => response.paginate(handler, { strategy } as never)),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ a: cell, b: cell }), { maxLength: 25 }),
        fc.uniqueArray(fc.tuple(fc.constantFrom("a", "b", "id"), way), {
          minLength: 1,
          selector: ([column]) => column,
        }),
        fc.integer({ min: 1, max: 7 }),
        async (cells, columns, size) => {
          handler = new SyncListDataHandler<object>(cells.map((row, id) => ({ ...row, id })));
          const sort = columns.map(([column, sign]) => sign + column).join(",");
          const whole = ids(page(await client.get(`/rows?sort=${sort}&page_size=100`)));

          const { forward, backward } = await thereAndBack(client, `/rows?sort=${sort}&page_size=${size}`);

          expect(forward).toEqual(whole);
          expect(backward).toEqual(whole);
          expect(whole.toSorted((one, other) => Number(one) - Number(other))).toEqual(cells.map((_, id) => id));
        },
      ),
      { numRuns: 60 },
    );
  });
});
