import { ConfigurationError, PorticoApp, type PorticoAppOptions } from "portico";
import { CursorPagination, PageNumberPagination } from "portico/pagination";
import { type LogCatcher, logCatcher, type TestResponse, testClient } from "portico/testing";
import { afterEach, describe, expect, it, vi } from "vitest";
import * as z from "zod";

afterEach(() => void vi.unstubAllEnvs());

const books = Array.from({ length: 5 }, (_, index) => ({ id: index + 1 }));
const item = z.object({ id: z.number() });
const secret = "a secret with more than thirty-two characters";

const warnings = (log: LogCatcher): unknown[] =>
  log.lines.filter(({ level }) => level === "warn").map(({ msg, route }) => (route === undefined ? msg : [route, msg]));
const pageOf = (answer: TestResponse): any => (answer.json() as { readonly pagination: unknown }).pagination;
const idsOf = (answer: TestResponse): readonly number[] =>
  (answer.json() as { readonly items: readonly { readonly id: number }[] }).items.map(({ id }) => id);

describe("cursor keys", () => {
  const withCursors = (options: PorticoAppOptions = {}): PorticoApp =>
    new PorticoApp({ logger: false, ...options }).get(
      "/books",
      { paginated: { strategy: "cursor", item } },
      ({ response }) => response.paginate(books, { strategy: "cursor", defaultPageSize: 2 }),
    );

  it("are random without cursorKeys, which is logged once, at startup", async () => {
    const log = logCatcher();
    const client = testClient(withCursors({ logger: log }));

    const first = await client.get("/books");
    const second = await client.get(`/books?cursor=${pageOf(first).next_cursor}`);

    expect([idsOf(first), idsOf(second)]).toEqual([
      [1, 2],
      [3, 4],
    ]);
    const sentence =
      "cursors and stored responses are encrypted with a random key: set cursorKeys to keep them valid after a restart";
    expect(warnings(log).filter((msg) => msg === sentence)).toEqual([sentence]);
    const other = await testClient(withCursors()).get(`/books?cursor=${pageOf(first).next_cursor}`);
    expect([other.status, other.json()]).toMatchObject([400, { code: "invalid_cursor" }]);
  });

  it("keep cursors valid in other processes", async () => {
    const log = logCatcher();
    const first = await testClient(withCursors({ cursorKeys: [secret], logger: log })).get("/books");
    const second = await testClient(withCursors({ cursorKeys: [secret] })).get(
      `/books?cursor=${pageOf(first).next_cursor}`,
    );

    expect(idsOf(second)).toEqual([3, 4]);
    expect(warnings(log)).not.toContainEqual(expect.stringContaining("random key"));
  });

  it("are required in production, if a route uses cursors", async () => {
    vi.stubEnv("NODE_ENV", "production");
    const pages = new PorticoApp({ logger: false }).get(
      "/books",
      { paginated: { strategy: "page_number", item } },
      ({ response }) => response.paginate(books),
    );

    await expect(withCursors().inject("/books")).rejects.toThrow(
      new ConfigurationError(
        "PorticoApp.cursorKeys",
        "is required in production when a cursor strategy, idempotent or a subscription with from is used: cursors, stored responses and positions must stay valid after a restart",
      ),
    );
    expect((await testClient(pages).get("/books")).status).toBe(200);
    expect((await testClient(withCursors({ cursorKeys: [secret] })).get("/books")).status).toBe(200);
  });
});

describe("publicUrl", () => {
  const sentence = "page links use the host name that the request claims: set publicUrl";
  const lists = (options: PorticoAppOptions): PorticoApp =>
    new PorticoApp(options)
      .get("/declared", { paginated: { strategy: "page_number", item } }, ({ response }) => response.paginate(books))
      .get("/books", ({ response }) => response.paginate(books, { defaultPageSize: 2 }));

  it("is missed in production, once and from the start", async () => {
    vi.stubEnv("NODE_ENV", "production");
    const log = logCatcher();
    const client = testClient(lists({ logger: log }));

    await client.get("/nothing");
    expect(warnings(log)).toEqual([sentence]);
    await client.get("/books");
    await client.get("/declared");
    expect(warnings(log)).toEqual([sentence]);
  });

  it("is missed by the first page of a list that no route declares", async () => {
    vi.stubEnv("NODE_ENV", "production");
    const log = logCatcher();
    const app = new PorticoApp({ logger: log }).get("/books", ({ response }) => response.paginate(books));
    const client = testClient(app);

    await client.get("/nothing");
    expect(warnings(log)).toEqual([]);
    await client.get("/books");
    expect(warnings(log)).toEqual([sentence]);
  });

  it("is the beginning of all links, and otherwise the request is", async () => {
    const next = async (options: PorticoAppOptions, query = "?page=1&x=%20y"): Promise<unknown> =>
      pageOf(await testClient(lists({ logger: false, ...options })).get(`/books${query}`)).links.next;

    expect(await next({ publicUrl: "https://shop.example/api" })).toBe(
      "https://shop.example/api/books?x=%20y&page=2&page_size=2",
    );
    expect(await next({ publicUrl: "https://shop.example" }, "")).toBe("https://shop.example/books?page=2&page_size=2");
    expect(await next({})).toMatch(/^http:\/\/[\w.:]+\/books\?x=%20y&page=2&page_size=2$/);
  });

  it("is not missed outside production, nor if it is set", async () => {
    const log = logCatcher();
    await testClient(lists({ logger: log })).get("/books");
    vi.stubEnv("NODE_ENV", "production");
    await testClient(lists({ logger: log, publicUrl: "https://shop.example" })).get("/books");

    expect(warnings(log)).toEqual([]);
  });
});

describe("the strategy that a route declares", () => {
  const declared = (log: LogCatcher): PorticoApp => {
    const cursor = new CursorPagination({ maxPageSize: 30 });
    const app = new PorticoApp({ logger: log, cursorKeys: [secret] });
    for (const strategy of [cursor, "page_number"] as const)
      app[strategy === cursor ? "get" : "post"]("/books", { paginated: { strategy, item } }, (({
        response,
        query,
      }: any) => response.paginate(books, { strategy: query.own === "yes" ? cursor : JSON.parse(query.as) })) as never);
    app.get("/alike", { paginated: { strategy: new PageNumberPagination(), item } }, ({ response }) =>
      response.paginate(books, { strategy: "page_number", defaultPageSize: 20 }),
    );
    app.get("/sizes", { paginated: { strategy: "page_number", item } }, ({ response }) =>
      response.paginate(books, { maxPageSize: 50 }),
    );
    app.get("/free", ({ response }) => response.paginate(books, { strategy: "limit_offset" }));
    return app;
  };

  it("may be any of its path, or one that is described alike", async () => {
    const log = logCatcher();
    const client = testClient(declared(log));

    await client.get("/books?own=yes");
    await client.get('/books?as="page_number"');
    await client.get("/alike");
    await client.get("/free");

    expect(warnings(log)).toEqual([]);
  });

  it("is compared with the one that the handler uses, and the difference is logged once", async () => {
    const log = logCatcher();
    const client = testClient(declared(log));

    for (const path of ['/books?as="limit_offset"', '/books?as="cursor"', "/sizes", "/sizes"]) await client.get(path);

    expect(warnings(log)).toEqual([
      [
        "/books",
        "paginated declares CursorPagination and PageNumberPagination, but the handler uses LimitOffsetPagination",
      ],
      [
        "/books",
        "paginated declares CursorPagination and PageNumberPagination, but the handler uses CursorPagination with other options",
      ],
      [
        "/sizes",
        "paginated declares PageNumberPagination, but the handler uses PageNumberPagination with other options",
      ],
    ]);
  });
});
