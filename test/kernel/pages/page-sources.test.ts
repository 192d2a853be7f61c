import { PorticoApp } from "portico";
import { type FetchContext, SyncDataHandler } from "portico/pagination";
import { logCatcher, manualClock, type TestResponse, testClient } from "portico/testing";
import { describe, expect, it } from "vitest";

const books = Array.from({ length: 5 }, (_, index) => ({ id: index + 1 }));
const idsOf = (answer: TestResponse): readonly number[] =>
  (answer.json() as { readonly items: readonly { readonly id: number }[] }).items.map(({ id }) => id);

describe("a data handler", () => {
  class Generous extends SyncDataHandler<{ id: number }> {
    readonly signals: AbortSignal[] = [];
    getTotalItems(): number {
      return 5;
    }
    getItems(_offset: number, _limit: number, context?: FetchContext): typeof books {
      if (context !== undefined) this.signals.push(context.signal);
      return books;
    }
  }

  it("receives the signal of the request, and a warning about it names the route", async () => {
    const [log, handler] = [logCatcher(), new Generous()];
    const seen: AbortSignal[] = [];
    const app = new PorticoApp({ logger: log }).get("/books/:shelf", ({ response, ctx }) => {
      seen.push(ctx.signal);
      return response.paginate(handler, { defaultPageSize: 2 });
    });

    const answer = await testClient(app).get("/books/a");

    expect(idsOf(answer)).toEqual([1, 2]);
    expect(handler.signals).toEqual(seen);
    expect(log.lines).toMatchObject([
      { level: "warn", route: "/books/:shelf", msg: "the data handler Generous returned more items than requested" },
    ]);
  });

  it("may be the first argument or dataHandler, but not a promise or something else", async () => {
    const log = logCatcher();
    const app = new PorticoApp({ logger: log })
      .get("/option", ({ response }) => response.paginate(null, { dataHandler: new Generous() }))
      .get("/promise", ({ response }) => (response as any).paginate(Promise.resolve(books)))
      .get("/text", ({ response }) => (response as any).apaginate("books"));
    const client = testClient(app);

    expect(idsOf(await client.get("/option"))).toEqual([1, 2, 3, 4, 5]);
    expect([(await client.get("/promise")).status, (await client.get("/text")).status]).toEqual([500, 500]);
    expect(log.lines.filter(({ level }) => level === "error").map(({ msg }) => msg)).toEqual([
      "response.paginate was given a promise: await the data first",
      "response.apaginate requires a list or a data handler, as its first argument or as dataHandler",
    ]);
  });
});

it("a cursor expires by the clock of the application, and is bound to its scope", async () => {
  const clock = manualClock(1_000_000);
  const app = new PorticoApp({ logger: false, clock }).get("/:owner", ({ response, path }) =>
    response.paginate(books, {
      strategy: "cursor",
      defaultPageSize: 2,
      maxAgeSeconds: 60,
      cursorScope: { owner: path.owner },
    }),
  );
  const client = testClient(app);
  const first = (await client.get("/ann")).json() as { pagination: { next_cursor: string } };
  const cursor = first.pagination.next_cursor;
  const status = async (owner: string): Promise<number> => (await client.get(`/${owner}?cursor=${cursor}`)).status;

  clock.advance(59_000);
  expect([await status("ann"), await status("bob")]).toEqual([200, 400]);
  clock.advance(2_000);
  expect(await status("ann")).toBe(400);
});
