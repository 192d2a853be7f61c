import {
  AsyncDataHandler,
  AsyncListDataHandler,
  type FetchContext,
  type Seekable,
  type SeekRequest,
  SyncDataHandler,
  SyncListDataHandler,
} from "portico/pagination";
import { logCatcher } from "portico/testing";
import { describe, expect, it } from "vitest";
import { type Book, bodyOf, books, bothWays, ids, range, serveOnce, target } from "../ways.ts";

const all = books(45);

class Sync extends SyncDataHandler<Book> {
  readonly calls: [number, number][] = [];
  getTotalItems(): number {
    return 45;
  }
  getItems(offset: number, limit: number): readonly Book[] {
    this.calls.push([offset, limit]);
    return all.slice(offset, offset + limit);
  }
}

class Later extends AsyncDataHandler<Book> {
  readonly calls: [number, number][] = [];
  async getTotalItems(): Promise<number> {
    return 45;
  }
  async getItems(offset: number, limit: number, _context?: FetchContext): Promise<readonly Book[]> {
    this.calls.push([offset, limit]);
    return all.slice(offset, offset + limit);
  }
}

bothWays("handlers", (serve) => {
  it("[HND-01] [HND-02] [HND-08] of the synchronous kind provide the total and the rows", async () => {
    const handler = new Sync();
    const client = await serve((app) =>
      app.get("/items", ({ response }) => response.paginate(null, { dataHandler: handler })),
    );

    const body = bodyOf(await client.get("/items?page=2&page_size=20"));

    expect(ids(body)).toEqual(range(21, 40));
    expect(body.pagination["total_items"]).toBe(45);
    expect(handler.calls).toEqual([[20, 20]]);
  });

  it("[PAG-01] [PAG-02] [HND-08] are the source even if there is a list", async () => {
    const client = await serve((app) =>
      app
        .get("/sync", ({ response }) => response.paginate([1, 2], { dataHandler: new Sync() }))
        .get("/later", ({ response }) => response.apaginate([1, 2], { dataHandler: new Later() }))
        .get("/either", ({ response }) => response.paginate([1, 2], { dataHandler: new Later() })),
    );

    for (const path of ["/sync", "/later", "/either"]) {
      const body = bodyOf(await client.get(`${path}?page=2`));
      expect(ids(body)).toEqual(range(21, 40));
      expect(body.pagination["total_items"]).toBe(45);
    }
  });

  it("[PAG-02] [HND-03] [HND-04] [HND-18] of the asynchronous kind do so too, as first argument or as dataHandler", async () => {
    const handler = new Later();
    const client = await serve((app) =>
      app
        .get("/items", ({ response }) => response.apaginate(handler))
        .get("/named", ({ response }) => response.apaginate(null, { dataHandler: handler })),
    );

    const body = bodyOf(await client.get("/items?page=2&page_size=20", { headers: { host: "x" } }));
    const named = bodyOf(await client.get("/named?page=2&page_size=20", { headers: { host: "x" } }));

    expect(ids(body)).toEqual(range(21, 40));
    expect(body.pagination["total_items"]).toBe(45);
    expect(handler.calls).toEqual([
      [20, 20],
      [20, 20],
    ]);
    expect(JSON.parse(JSON.stringify(named).replaceAll("/named", "/items"))).toEqual(body);
  });

  it("[HND-06] [HND-07] [HND-09] for lists are built in, and a list needs none", async () => {
    const client = await serve((app) =>
      app
        .get("/sync", ({ response }) => response.paginate(new SyncListDataHandler(all)))
        .get("/async", ({ response }) => response.apaginate(new AsyncListDataHandler(all)))
        .get("/both", ({ response }) => response.apaginate(new SyncListDataHandler(all)))
        .get("/list", ({ response }) => response.paginate([1, 2, 3])),
    );

    for (const path of ["/sync", "/async", "/both"]) {
      const body = bodyOf(await client.get(`${path}?page=3`));
      expect(ids(body)).toEqual(range(41, 45));
      expect(body.pagination["total_items"]).toBe(45);
    }
    expect((await client.get("/list")).json()).toMatchObject({ items: [1, 2, 3], pagination: { total_items: 3 } });
  });

  it("[PAG-24] paginate the data as it was filtered and sorted", async () => {
    const client = await serve((app) =>
      app.get("/items", ({ response }) =>
        response.paginate(all.filter(({ id }) => id > 33).toSorted((a, b) => b.id - a.id)),
      ),
    );

    const body = bodyOf(await client.get("/items?page_size=3"));

    expect(ids(body)).toEqual([45, 44, 43]);
    expect(body.pagination["total_items"]).toBe(12);
  });
});

describe("a handler that can seek", () => {
  it("[HND-10] is called once, for one row more than the page, after a key", async () => {
    const asked: [SeekRequest, number][] = [];
    class Log extends AsyncDataHandler<Book> implements Seekable<Book> {
      readonly uniqueKey = ["id"];
      async getTotalItems(): Promise<number> {
        return 45;
      }
      async getItems(): Promise<readonly Book[]> {
        throw new Error("not asked for");
      }
      async getItemsAfter(seek: SeekRequest, limit: number): Promise<readonly Book[]> {
        asked.push([seek, limit]);
        const start = (seek.key?.[0] as number | undefined) ?? 0;
        return all.slice(start, start + limit);
      }
    }
    const client = await serveOnce((app) =>
      app.get("/items", ({ response }) => response.apaginate(new Log(), { strategy: "cursor" })),
    );
    const first = bodyOf(await client.get("/items"));

    const second = bodyOf(await client.get(target(first.pagination.links["next"])));

    expect(ids(second)).toEqual(range(21, 40));
    expect(asked).toEqual([
      [{ order: [["id", "asc"]], key: null, direction: "forward" }, 21],
      [{ order: [["id", "asc"]], key: [20], direction: "forward" }, 21],
    ]);
    expect(second.pagination["total_items"]).toBeNull();
  });

  it("[HND-11] [pagination:PG-100] is optional: otherwise the cursor holds an offset", async () => {
    const handler = new Later();
    const log = logCatcher();
    const client = await serveOnce(
      (app) => app.get("/items", ({ response }) => response.apaginate(handler, { strategy: "cursor" })),
      { logger: log },
    );

    const seen: unknown[] = [];
    let body = bodyOf(await client.get("/items"));
    for (
      ;
      body.pagination.links["next"] !== undefined;
      body = bodyOf(await client.get(target(body.pagination.links["next"])))
    )
      seen.push(...ids(body));
    seen.push(...ids(body));
    const back = bodyOf(await client.get(target(body.pagination.links["prev"])));
    const first = bodyOf(await client.get(target(back.pagination.links["prev"])));

    expect(seen).toEqual(range(1, 45));
    expect(ids(back)).toEqual(range(21, 40));
    expect(ids(first)).toEqual(range(1, 20));
    expect(first.pagination["prev_cursor"]).toBeNull();
    expect(handler.calls.slice(0, 3)).toEqual([
      [0, 21],
      [20, 21],
      [40, 21],
    ]);
    expect(
      log.lines.filter(({ msg }) => msg.includes("has no getItemsAfter: its items keep the handler's order")),
    ).toHaveLength(1);
  });
});

describe("an invalid call", () => {
  it.each([
    ["paginate with a promise", (r: any) => r.paginate(Promise.resolve([])), "await the data first"],
    ["apaginate with a promise", (r: any) => r.apaginate(Promise.resolve([])), "await the data first"],
    ["paginate with nothing", (r: any) => r.paginate(null), "requires a list or a data handler"],
    ["an unknown strategy", (r: any) => r.paginate([], { strategy: "pages" }), 'strategy must be "page_number"'],
    ["an option beside an instance", (r: any) => r.paginate([], { strategy: "cursor", maxLimit: 5 }), "unknown option"],
  ])("%s is a 500 whose log line says what to do", async (_title, call, message) => {
    const log = logCatcher();
    const client = await serveOnce((app) => app.get("/items", ({ response }) => call(response)), { logger: log });

    expect((await client.get("/items")).status).toBe(500);
    expect(log.lines.find(({ level }) => level === "error")?.msg).toContain(message);
  });
});

describe("a faulty handler", () => {
  const total = (value: unknown): AsyncDataHandler<Book> =>
    Object.assign(new Later(), { getTotalItems: async () => value as number });

  it.each([[-1], [Number.NaN], [1.5], ["45"]])(
    "[pagination:PG-043] that counts %s is a 500, and the log names it",
    async (value) => {
      const log = logCatcher();
      const client = await serveOnce((app) => app.get("/items", ({ response }) => response.apaginate(total(value))), {
        logger: log,
      });

      expect((await client.get("/items")).status).toBe(500);
      expect(log.lines.find(({ level }) => level === "error")?.msg).toContain(
        "the data handler Later returned a total",
      );
    },
  );

  it("[pagination:PG-043] may count with a bigint", async () => {
    const client = await serveOnce((app) => app.get("/items", ({ response }) => response.apaginate(total(45n))));

    expect(bodyOf(await client.get("/items")).pagination["total_items"]).toBe(45);
  });

  it("[pagination:PG-040] [pagination:PG-041] may return too few or too many items", async () => {
    const log = logCatcher();
    const shrunk = Object.assign(new Later(), { getTotalItems: async () => 100, getItems: async () => [] });
    const generous = Object.assign(new Later(), { getItems: async () => all });
    const client = await serveOnce(
      (app) =>
        app
          .get("/shrunk", ({ response }) => response.apaginate(shrunk))
          .get("/generous", ({ response }) => response.apaginate(generous)),
      { logger: log },
    );

    expect(bodyOf(await client.get("/shrunk"))).toMatchObject({ items: [], pagination: { total_items: 100 } });
    expect(bodyOf(await client.get("/generous")).items).toHaveLength(20);
    expect(log.lines.map(({ msg }) => msg)).toContain("the data handler Later returned more items than requested");
  });

  it("[pagination:PG-042] that returns no list, throws or rejects is a 500, and one that never settles gets the signal", async () => {
    let reason: unknown;
    const never = Object.assign(new Later(), {
      getItems: (_offset: number, _limit: number, context?: FetchContext) =>
        new Promise<never>((_resolve, reject) => {
          context?.signal.addEventListener("abort", () => reject((reason = context.signal.reason) as Error));
        }),
    });
    const client = await serveOnce((app) => {
      app.get("/none", ({ response }) =>
        response.apaginate(Object.assign(new Later(), { getItems: async () => ({}) as never })),
      );
      app.get("/throws", ({ response }) =>
        response.paginate(
          Object.assign(new Sync(), {
            getItems: () => {
              throw new Error("no");
            },
          }),
        ),
      );
      app.get("/rejects", ({ response }) =>
        response.apaginate(Object.assign(new Later(), { getItems: () => Promise.reject(new Error("no")) })),
      );
      app.get("/never", { timeoutSeconds: 0.05 }, ({ response }) => response.apaginate(never));
    });

    expect((await client.get("/none")).status).toBe(500);
    expect((await client.get("/throws")).status).toBe(500);
    expect((await client.get("/rejects")).status).toBe(500);
    expect((await client.get("/never")).status).toBe(503);
    expect(reason).toMatchObject({ name: "TimeoutError" });
  });
});
