import * as fc from "fast-check";
import { CursorPagination, type Direction, type NullPlacement, SyncListDataHandler } from "portico/pagination";
import { describe, expect, it } from "vitest";
import { bodyOf, ids, publicColumns, serveOnce, target, thereAndBack } from "./ways.ts";

interface Task {
  readonly id: number;
  readonly priority: number | null;
  readonly due: number | null;
}

/** Few values, so that there are ties, and many nulls. */
const cell = fc.constantFrom(null, null, 1, 2, 3);
const direction = fc.constantFrom<Direction>("asc", "desc");
const placement = fc.constantFrom<NullPlacement>("nulls first", "nulls last");
/** Nulls are split off before the values are compared, so this does not share an idea with the handler. */
const inOrder = (tasks: readonly Task[], column: "priority" | "due", way: Direction, nulls: NullPlacement): Task[] => {
  const absent = tasks.filter((task) => task[column] === null);
  const present = tasks
    .filter((task) => task[column] !== null)
    .toSorted((a, b) => ((a[column] as number) - (b[column] as number)) * (way === "asc" ? 1 : -1));
  return nulls === "nulls first" ? [...absent, ...present] : [...present, ...absent];
};

describe("the place of nulls in a list", () => {
  it("is the declared one in every column and direction, forward and backward", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ priority: cell, due: cell }), { maxLength: 20 }),
        fc.tuple(direction, placement),
        fc.tuple(direction, placement),
        fc.integer({ min: 1, max: 6 }),
        async (cells, [way, nulls], [dueWay, dueNulls], size) => {
          const tasks = cells.map((task, id) => ({ ...task, id }));
          const client = await serveOnce((app) =>
            app.get("/tasks", ({ response }) =>
              response.paginate(new SyncListDataHandler<Task>(tasks), {
                strategy: "cursor",
                order: [
                  ["priority", way, nulls],
                  ["due", dueWay, dueNulls],
                  ["id", "asc"],
                ],
                defaultPageSize: size,
              }),
            ),
          );

          const seen = await thereAndBack(client, "/tasks");

          const expected = ids({ items: inOrder(inOrder(tasks, "due", dueWay, dueNulls), "priority", way, nulls) });
          expect(seen).toEqual({ forward: expected, backward: expected });
        },
      ),
      { numRuns: 60 },
    );
  });

  const tasks = [4, null, 5].map((priority, id) => ({ id, priority }));

  it.each([
    ["first", "priority", [1, 0, 2]],
    ["first", "-priority", [1, 2, 0]],
    ["last", "priority", [0, 2, 1]],
    ["last", "-priority", [2, 0, 1]],
  ] as const)("is %s for the client's %s, if the strategy says so", async (nulls, sort, expected) => {
    const strategy = new CursorPagination({ sortField: "id", sortable: publicColumns("priority"), nulls });
    const client = await serveOnce((app) =>
      app.get("/tasks", ({ response }) => response.paginate(tasks, { strategy })),
    );

    expect(ids(bodyOf(await client.get(`/tasks?sort=${sort}`)))).toEqual(expected);
  });

  it("of one column overrides that of the strategy", async () => {
    const strategy = new CursorPagination({ order: [["priority", "asc", "nulls first"]], nulls: "last" });
    const client = await serveOnce((app) =>
      app.get("/tasks", ({ response }) => response.paginate(tasks, { strategy })),
    );

    expect(ids(bodyOf(await client.get("/tasks")))).toEqual([1, 0, 2]);
  });

  it("is part of the order that a cursor is bound to", async () => {
    const list = new SyncListDataHandler(tasks, { name: "tasks" });
    const client = await serveOnce((app) =>
      (["nulls first", "nulls last"] as const).forEach((nulls) => {
        const order = [["priority", "asc", nulls]] as const;
        const path = nulls === "nulls first" ? "/first" : "/last";
        app.get(path, ({ response }) => response.paginate(list, { strategy: "cursor", order, defaultPageSize: 1 }));
      }),
    );
    const next = target(bodyOf(await client.get("/first")).pagination.links["next"]);

    expect((await client.get(next)).status).toBe(200);
    const elsewhere = await client.get(next.replace("/first", "/last"));

    expect(elsewhere.status).toBe(400);
    expect(elsewhere.json()).toMatchObject({ code: "cursor_mismatch" });
  });

  it.each([
    [{ order: [["id", "asc", "last"]] }, "CursorPagination.order must be"],
    [{ order: [["id", "asc", "nulls last", 1]] }, "CursorPagination.order must be"],
    [{ nulls: "nulls last" }, 'CursorPagination.nulls must be "first" or "last"'],
  ])("%j is rejected when it is created", (options, sentence) => {
    expect(() => new CursorPagination(options as object)).toThrow(sentence);
  });
});
