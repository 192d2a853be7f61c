import { ConfigurationError } from "portico";
import {
  type FetchContext,
  InvalidCursorError,
  type Seekable,
  type SeekRequest,
  SyncDataHandler,
  SyncListDataHandler,
  type WalkBatch,
  walk,
} from "portico/pagination";
import { describe, expect, it } from "vitest";
import { type Book, books, ids, range } from "../ways.ts";

const shelf = new SyncListDataHandler(books(45), { name: "books" });

async function all<T>(batches: AsyncIterable<WalkBatch<T>>): Promise<WalkBatch<T>[]> {
  const found: WalkBatch<T>[] = [];
  for await (const batch of batches) found.push(batch);
  return found;
}

/** A list whose reads are recorded, and wait if the test says so. */
class Shelf extends SyncDataHandler<Book> implements Seekable<Book> {
  readonly uniqueKey: readonly string[] = ["id"];
  readonly seeks: (SeekRequest & { readonly limit: number })[] = [];
  signal: AbortSignal | undefined;
  waitFor: Promise<void> = Promise.resolve();
  getTotalItems(): number {
    throw new Error("a walk must not ask for the total");
  }
  getItems(): readonly Book[] {
    throw new Error("a walk must not read by offset");
  }
  async getItemsAfter(seek: SeekRequest, limit: number, context?: FetchContext): Promise<readonly Book[]> {
    this.seeks.push({ ...seek, limit });
    this.signal = context?.signal;
    await this.waitFor;
    return shelf.getItemsAfter(seek, limit);
  }
}

describe("a walk", () => {
  it("returns all items in batches, by the unique key", async () => {
    const found = await all(walk(shelf, { size: 20 }));

    expect(found.map((batch) => batch.items.length)).toEqual([20, 20, 5]);
    expect(found.flatMap(ids)).toEqual(range(1, 45));
  });

  it("keeps to the order that it is given", async () => {
    const found = await all(walk(shelf, { size: 30, order: [["title", "desc"]] }));

    const titles = found.flatMap(({ items }) => items.map(({ title }) => title));
    expect(titles).toEqual(titles.toSorted().toReversed());
    expect(titles).toHaveLength(45);
  });

  it("seeks once per batch, from the last key of the batch before, when the batch is requested", async () => {
    const handler = new Shelf();
    const batches = walk(handler, { size: 20 });
    expect(handler.seeks).toHaveLength(0);

    await batches.next();
    expect(handler.seeks).toHaveLength(1);
    await all(batches);

    expect(handler.seeks.map(({ key, limit }) => [key, limit])).toEqual([
      [null, 20],
      [[20], 20],
      [[40], 20],
    ]);
  });

  it("has no batches if there are no items, and no empty one at the end", async () => {
    expect(await all(walk(new SyncListDataHandler<Book>([], { uniqueKey: ["id"] }), { size: 5 }))).toEqual([]);
    expect(await all(walk(shelf, { size: 15 }))).toHaveLength(3);
  });

  it("continues after a resume point, in another walk", async () => {
    const [first] = await all(walk(shelf, { size: 20 }));
    const saved = JSON.parse(JSON.stringify(first?.after)) as string;

    const rest = await all(walk(new SyncListDataHandler(books(50), { name: "books" }), { size: 7, after: saved }));

    expect(rest.flatMap(ids)).toEqual(range(21, 50));
    expect((await all(walk(shelf, { size: 20, after: null }))).flatMap(ids)).toEqual(range(1, 45));
  });

  it("continues after its last resume point with items that were added later", async () => {
    const last = (await all(walk(shelf, { size: 20 }))).at(-1);

    const added = await all(
      walk(new SyncListDataHandler(books(47), { name: "books" }), { size: 20, after: last?.after ?? "" }),
    );

    expect(added.flatMap(ids)).toEqual([46, 47]);
  });

  it("rejects a resume point of another list, of another order, or that was changed", async () => {
    const [{ after }] = (await all(walk(shelf, { size: 20 }))) as [WalkBatch<Book>];
    const codeOf = (attempt: () => unknown): unknown => {
      try {
        return attempt();
      } catch (error) {
        return error instanceof InvalidCursorError ? error.code : error;
      }
    };

    const other = new SyncListDataHandler(books(3), { name: "others" });
    expect(codeOf(() => walk(other, { size: 20, after }))).toBe("CURSOR_MISMATCH");
    expect(codeOf(() => walk(shelf, { size: 20, after, order: [["id", "desc"]] }))).toBe("CURSOR_MISMATCH");
    expect(codeOf(() => walk(shelf, { size: 20, after: `${after}AA` }))).toBe("INVALID_CURSOR");
    expect(codeOf(() => walk(shelf, { size: 20, after: "?" }))).toBe("INVALID_CURSOR");
    expect(codeOf(() => walk(shelf, { size: 20, after: `B${after.slice(1)}` }))).toBe("CURSOR_VERSION");
  });

  it("resumes a list without a name", async () => {
    const [{ after }] = (await all(walk(new SyncListDataHandler(books(9)), { size: 4 }))) as [WalkBatch<Book>];

    expect((await all(walk(new SyncListDataHandler(books(9)), { size: 9, after }))).flatMap(ids)).toEqual(range(5, 9));
  });

  it("rejects a key that is too long to resume from", async () => {
    const long = new SyncListDataHandler([{ id: "x".repeat(70_000) }]);

    await expect(all(walk(long, { size: 1 }))).rejects.toThrow("the walk is ordered by id: a key exceeds 65535 bytes");
  });

  it("rejects a handler that cannot seek and wrong options, before it reads", () => {
    class Offsets extends SyncDataHandler<Book> {
      getTotalItems(): number {
        return 0;
      }
      getItems(): readonly Book[] {
        return [];
      }
    }
    const start = (handler: unknown, options: unknown) => () => walk(handler as never, options as never);

    expect(start(new Offsets(), { size: 1 })).toThrow(
      new ConfigurationError("walk", "requires a data handler that can seek: implement getItemsAfter in Offsets"),
    );
    expect(start([], { size: 1 })).toThrow("walk requires a data handler, such as the result of tableHandler()");
    expect(start(shelf, {})).toThrow("walk.size is required");
    expect(start(shelf, { size: 0 })).toThrow("walk.size must be a positive integer");
    expect(start(shelf, { size: 1, order: [] })).toThrow("walk.order must be a list of distinct columns");
    expect(start(shelf, { size: 1, signal: true })).toThrow("walk.signal must be an AbortSignal");
    expect(start(new SyncListDataHandler(["a"]), { size: 1 })).toThrow("walk.order is required");
  });

  it("ends with the reason of its signal: before a batch, and while one is read", async () => {
    const stop = new AbortController();
    const handler = new Shelf();
    const batches = walk(handler, { size: 10, signal: stop.signal });
    await batches.next();
    expect(handler.signal).toBe(stop.signal);
    handler.waitFor = new Promise(() => {});

    const pending = batches.next();
    stop.abort(new Error("shutting down"));

    await expect(pending).rejects.toThrow("shutting down");
    await expect(walk(handler, { size: 10, signal: stop.signal }).next()).rejects.toThrow("shutting down");
    expect(handler.seeks).toHaveLength(2);
  });

  it("reports a handler that returns too many items or no list", async () => {
    class Wrong extends Shelf {
      override async getItemsAfter(seek: SeekRequest, limit: number): Promise<readonly Book[]> {
        return super.getItemsAfter(seek, limit + 1);
      }
    }

    await expect(all(walk(new Wrong(), { size: 10 }))).rejects.toMatchObject({ code: "DATA_HANDLER_INVALID" });
  });
});
