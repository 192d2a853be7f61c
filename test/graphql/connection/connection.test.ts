import * as fc from "fast-check";
import { printSchema } from "graphql";
import { ConfigurationError, Depend, PorticoApp, type PorticoAppOptions } from "portico";
import { SimpleUser } from "portico/auth";
import {
  connection,
  type FormattedError,
  field,
  Graph,
  Limits,
  type ObjectType,
  object,
  schema,
  t,
} from "portico/graphql";
import {
  AsyncDataHandler,
  type CursorMetadata,
  type CursorOptions,
  CursorPagination,
  type FetchContext,
  LimitOffsetPagination,
  type Seekable,
  type SeekRequest,
  SyncDataHandler,
  SyncListDataHandler,
} from "portico/pagination";
import { liveClient, logCatcher, type TestClient, testClient } from "portico/testing";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { type Book, bodyOf, books, ids, range, SECRET } from "../../pagination/ways.ts";

const BookType: ObjectType<Book> = object("Book", { id: t.int, title: t.string });
const byId = new CursorPagination();

interface Answer {
  readonly data: { readonly books: Books } | null;
  readonly errors?: readonly FormattedError[];
  readonly extensions?: { readonly cost?: { readonly cost: number } };
}
interface Books {
  readonly edges: readonly { readonly cursor: string; readonly node: Book }[];
  readonly nodes: readonly Book[];
  readonly pageInfo: {
    readonly hasNextPage: boolean;
    readonly hasPreviousPage: boolean;
    readonly startCursor: string | null;
    readonly endCursor: string | null;
  };
  readonly totalCount: number | null;
}
const ALL = "{ edges { cursor node { id } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } }";

class FromSecond extends CursorPagination {
  override calculateOffsetLimit(): readonly [number, number] {
    return [1, 1];
  }
}

/** A source that can seek, and tells what it was asked. */
class Shelf extends AsyncDataHandler<Book> implements Seekable<Book> {
  override readonly name: string;
  readonly uniqueKey = ["id"];
  readonly asked: string[] = [];
  readonly #list: SyncListDataHandler<Book>;
  constructor(count: number, name = "shelf") {
    super();
    this.name = name;
    this.#list = new SyncListDataHandler(books(count));
  }
  async getTotalItems(): Promise<number> {
    this.asked.push("count");
    return this.#list.getTotalItems();
  }
  async getItems(): Promise<readonly Book[]> {
    throw new Error("a source that can seek is not asked for offsets");
  }
  async getItemsAfter(seek: SeekRequest, limit: number): Promise<readonly Book[]> {
    this.asked.push(`${seek.direction} ${limit}`);
    return this.#list.getItemsAfter(seek, limit);
  }
}

/** A source that cannot. */
class Pile extends SyncDataHandler<Book> {
  override readonly name = "pile";
  readonly #items = books(10);
  getTotalItems(): number {
    return this.#items.length;
  }
  getItems(offset: number, limit: number): readonly Book[] {
    return this.#items.slice(offset, offset + limit);
  }
}

type Source = AsyncDataHandler<Book> | SyncDataHandler<Book> | readonly Book[];

/** The source as a connection and as a route. */
function appOf(source: Source, strategy: CursorPagination = byId, options: PorticoAppOptions = {}): PorticoApp {
  const app = new PorticoApp({ logger: false, cursorKeys: [SECRET], ...options });
  app.get("/books", ({ response }) => response.apaginate(source as readonly Book[], { strategy }));
  const query = { books: connection(BookType, strategy)(() => source) };
  new Graph(schema({ query }), { limits: new Limits({ cost: 1_000_000 }) }).mount(app);
  onTestFinished(() => app.close());
  return app;
}
const serve = (source: Source, options: CursorOptions<"id"> = {}): TestClient =>
  testClient(appOf(source, new CursorPagination(options)));

async function ask(client: TestClient, selection: string, args = ""): Promise<Answer> {
  const answer = await client.post("/graphql", { body: { query: `{ books${args} ${selection} }` } });
  return answer.json() as Answer;
}
async function page(client: TestClient, args = ""): Promise<Books> {
  const { data, errors } = await ask(client, ALL, args);
  expect(errors).toBeUndefined();
  return (data as { books: Books }).books;
}
const idsOf = ({ edges }: Books): unknown[] => ids({ items: edges.map(({ node }) => node) });
const ends = ({ pageInfo }: Books): unknown[] => [pageInfo.hasPreviousPage, pageInfo.hasNextPage];
const cursorAt = async (client: TestClient, id: number): Promise<string> =>
  (await page(client, "(first: 100)")).edges[id - 1]?.cursor ?? "";

describe("a connection", () => {
  it("has the types of Relay, one set for each node type", () => {
    const query = {
      books: connection(BookType, byId, { description: "All of them." })(() => books(1)),
      others: connection(() => BookType, byId, { params: { genre: t.nullable(t.string) } })(() => books(1)),
    };

    expect(printSchema(schema({ query })).replaceAll(/ *"""[^"]*"""\n/g, "")).toMatchInlineSnapshot(`
      "type Query {
        books(
          first: Int

          after: String

          last: Int

          before: String
        ): BookConnection!
        others(
          genre: String

          first: Int

          after: String

          last: Int

          before: String
        ): BookConnection!
      }

      type BookConnection {
        edges: [BookEdge!]!

        nodes: [Book!]!
        pageInfo: PageInfo!

        totalCount: Int
      }

      type PageInfo {
        hasNextPage: Boolean!
        hasPreviousPage: Boolean!
        startCursor: String
        endCursor: String
      }

      type Book {
        id: Int!
        title: String!
      }

      type BookEdge {
        cursor: String!
        node: Book!
      }"
    `);
  });

  it("accepts dependencies, a gate and a parent, as a field does", async () => {
    const shelf = (): Shelf => new Shelf(3);
    const Author: ObjectType<{ readonly id: number }> = object("Author", {
      id: t.int,
      books: connection(BookType, byId)(({ parent }) => books(9).filter(({ id }) => id % parent.id === 0)),
    });
    const query = {
      author: field(Author)(() => ({ id: 3 })),
      books: connection(BookType, byId, { params: { shelf: Depend(shelf), from: t.int(0) } })(
        async ({ shelf: source, from }) => (from === 0 ? source : []),
      ),
      secret: connection(BookType, byId, { auth: true })(() => books(1)),
    };
    const app = new PorticoApp({ logger: false });
    new Graph(schema({ query })).mount(app);
    const client = testClient(app);

    const given = await client.post("/graphql", {
      body: {
        query: "{ author { books { nodes { id } } } books { nodes { id } } none: books(from: 1) { nodes { id } } }",
      },
    });
    const refused = await client.post("/graphql", { body: { query: "{ secret { totalCount } }" } });

    expect(given.json()).toMatchObject({
      data: {
        author: { books: { nodes: [{ id: 3 }, { id: 6 }, { id: 9 }] } },
        books: { nodes: [{ id: 1 }, { id: 2 }, { id: 3 }] },
        none: { nodes: [] },
      },
    });
    expect(refused.json()).toMatchObject({ errors: [{ extensions: { code: "UNAUTHENTICATED" } }] });
  });

  it("works as a decorator on a method", async () => {
    class Query {
      books(): readonly Book[] {
        return books(this.count());
      }
      count(): number {
        return 2;
      }
    }
    connection(BookType, byId)(
      Query.prototype,
      "books",
      Object.getOwnPropertyDescriptor(Query.prototype, "books") as never,
    );
    const app = new PorticoApp({ logger: false });
    new Graph(schema({ query: new Query() })).mount(app);

    expect(idsOf(await page(testClient(app)))).toEqual([1, 2]);
  });

  it.each([
    ["a strategy without cursors", () => connection(BookType, new LimitOffsetPagination() as never)],
    ["the name of a strategy", () => connection(BookType, "cursor" as never)],
    ["a strategy that calculates its own slice", () => connection(BookType, new FromSecond())],
    ["its own listSize", () => connection(BookType, byId, { listSize: 5 } as never)],
    [
      "a parameter named as one of its arguments",
      () => connection(BookType, byId, { params: { first: t.int } } as never),
    ],
  ])("rejects %s", (_what, declare) => {
    expect(declare).toThrow(ConfigurationError);
  });

  it("rejects a type that is not an object, and a field without a resolver", () => {
    const named = t.ref<Book>("Book") as never;

    expect(() => schema({ query: { books: connection(named, byId as never)(() => []) } })).toThrow(
      "the first argument must be an object type",
    );
    expect(() => object("Shop", { books: connection(BookType, byId) } as never)).toThrow(
      "a field without a resolver cannot have params",
    );
  });

  it("binds its cursors to a filter: an object, or a function of the arguments and the parent", async () => {
    interface Author {
      readonly name: string;
    }
    const shelf = new Shelf(9);
    const AuthorType: ObjectType<Author> = object("Author", {
      name: t.string,
      books: connection(BookType, byId, {
        params: { prefix: t.string("B") },
        cursorScope: ({ parent, args }: { readonly parent: Author; readonly args: { readonly prefix: string } }) => ({
          author: parent.name,
          prefix: args.prefix,
        }),
      })(() => shelf),
    });
    const query = {
      author: field(AuthorType, { params: { name: t.string } })(({ name }) => ({ name })),
      fixed: connection(BookType, byId, { cursorScope: { shop: 1 } })(() => shelf),
      books: connection(BookType, byId)(() => shelf),
    };
    const app = new PorticoApp({ logger: false, cursorKeys: [SECRET] });
    new Graph(schema({ query })).mount(app);
    const client = testClient(app);
    const run = async (text: string): Promise<any> => (await client.post("/graphql", { body: { query: text } })).json();
    const info = "{ nodes { id } pageInfo { endCursor } }";
    const { data } = await run(`{ author(name: "Eliot") { books(first: 2) ${info} } fixed(first: 2) ${info} }`);
    const ofAuthor = data.author.books.pageInfo.endCursor as string;
    const ofFixed = data.fixed.pageInfo.endCursor as string;

    const good = await run(
      `{ author(name: "Eliot") { books(first: 2, prefix: "B", after: "${ofAuthor}") ${info} } fixed(first: 2, after: "${ofFixed}") ${info} }`,
    );
    expect(good.errors).toBeUndefined();
    expect([ids({ items: good.data.author.books.nodes }), ids({ items: good.data.fixed.nodes })]).toEqual([
      [3, 4],
      [3, 4],
    ]);
    for (const text of [
      `{ author(name: "Austen") { books(first: 2, after: "${ofAuthor}") ${info} } }`,
      `{ author(name: "Eliot") { books(first: 2, prefix: "C", after: "${ofAuthor}") ${info} } }`,
      `{ books(first: 2, after: "${ofAuthor}") ${info} }`,
      `{ books(first: 2, after: "${ofFixed}") ${info} }`,
    ])
      expect(await run(text)).toMatchObject({ errors: [{ extensions: { code: "BAD_USER_INPUT" } }] });
    expect(() => connection(BookType, byId, { cursorScope: "shop" as never })).toThrow(
      'connection.cursorScope must be an object, or a function that returns one, received "shop"',
    );
    await app.close();
  });

  it("binds its cursors to the caller if each caller has a separate list", async () => {
    const mine = connection(BookType, byId, { auth: true, cursorScope: ({ ctx }) => ({ owner: ctx.user.identity }) })(
      () => new Shelf(9),
    );
    const app = new PorticoApp({ logger: false, cursorKeys: [SECRET] });
    new Graph(schema({ query: { mine } })).mount(app);
    const [ann, bob] = [testClient(app).as(new SimpleUser("ann")), testClient(app).as(new SimpleUser("bob"))];
    const document = "query ($after: String) { mine(first: 2, after: $after) { nodes { id } pageInfo { endCursor } } }";
    const first = await ann.graphql<{ mine: { pageInfo: { endCursor: string } } }>(document);
    const after = first.data?.mine.pageInfo.endCursor;

    const [hers, his] = [await ann.graphql(document, { after }), await bob.graphql(document, { after })];

    expect(hers).toMatchObject({ data: { mine: { nodes: [{ id: 3 }, { id: 4 }] } } });
    expect(his).toMatchObject({ errors: [{ extensions: { code: "BAD_USER_INPUT" } }] });
    await app.close();
  });

  it("[PAG-42] [pagination:PG-123] requires cursor keys at startup in production", async () => {
    vi.stubEnv("NODE_ENV", "production");
    onTestFinished(() => {
      vi.unstubAllEnvs();
    });
    const declare = (options: PorticoAppOptions, query: Parameters<typeof schema>[0]["query"]): PorticoApp => {
      const app = new PorticoApp({ logger: false, openapi: false, publicUrl: "https://shop.example", ...options });
      new Graph(schema({ query })).mount(app);
      onTestFinished(() => app.close());
      return app;
    };
    const connected = { books: connection(BookType, byId)(() => new Shelf(9)) };
    const plain = { hello: field(t.string)(() => "hello") };

    await expect(declare({}, connected).inject("/graphql")).rejects.toThrow(
      "PorticoApp.cursorKeys is required in production",
    );
    expect((await declare({ cursorKeys: [SECRET] }, connected).inject("/graphql")).status).toBe(400);
    expect((await declare({}, plain).inject("/graphql")).status).toBe(400);
  });

  it("masks the error of a resolver that returns something else", async () => {
    const { errors } = await ask(serve({} as never), "{ totalCount }");

    expect(errors).toMatchObject([{ extensions: { code: "INTERNAL_SERVER_ERROR" } }]);
  });
});

describe.each([
  ["in process", async (app: PorticoApp) => testClient(app)],
  ["over a socket", liveClient],
])("a connection and a route, %s", (_way, open) => {
  it.each([
    ["a source that seeks", () => new Shelf(50)],
    ["a list with a name", () => new SyncListDataHandler(books(50), { name: "books" })],
  ])("[PAG-40] [pagination:PG-110] share cursors over %s", async (_title, make) => {
    const client = await open(appOf(make()));

    const route = bodyOf<CursorMetadata>(await client.get("/books"));
    const same = await page(client);
    const { next_cursor } = route.pagination;
    const second = await page(client, `(after: "${next_cursor}")`);
    const third = bodyOf<CursorMetadata>(
      await client.get(`/books?page_size=5&cursor=${second.pageInfo.endCursor as string}`),
    );
    const back = await page(client, `(last: 5, before: "${third.pagination.prev_cursor}")`);

    expect(idsOf(same)).toEqual(ids(route));
    expect(same.pageInfo).toMatchObject({ hasNextPage: true, hasPreviousPage: false, endCursor: next_cursor });
    expect([idsOf(second), ends(second)]).toEqual([range(21, 40), [true, true]]);
    expect(ids(third)).toEqual(range(41, 45));
    expect([idsOf(back), ends(back)]).toEqual([range(36, 40), [true, true]]);
  });
});

describe("the cursors of a connection", () => {
  it("[PAG-40] work in a route over a source that cannot seek, and the other way round", async () => {
    const client = serve(new Pile());

    const first = await page(client, "(first: 4)");
    const second = bodyOf<CursorMetadata>(
      await client.get(`/books?page_size=4&cursor=${first.pageInfo.endCursor as string}`),
    );
    const { next_cursor, prev_cursor } = second.pagination;

    expect(ids(second)).toEqual(range(5, 8));
    expect(idsOf(await page(client, `(after: "${next_cursor}")`))).toEqual([9, 10]);
    expect(idsOf(await page(client, `(last: 2, before: "${prev_cursor}")`))).toEqual([3, 4]);
    expect(idsOf(await page(client, `(first: 2, after: "${prev_cursor}")`))).toEqual([6, 7]);
  });

  it("include those that lead back from the empty page of a route, and reject paging beyond that end", async () => {
    const client = serve(new SyncListDataHandler(books(4), { name: "books" }));
    const last = await cursorAt(client, 4);

    const beyond = bodyOf<CursorMetadata>(await client.get(`/books?cursor=${last}`)).pagination.prev_cursor;
    const { errors } = await ask(client, ALL, `(after: "${beyond}")`);

    expect(idsOf(await page(client, `(last: 2, before: "${beyond}")`))).toEqual([3, 4]);
    expect(errors).toMatchObject([
      { message: expect.stringMatching(/^after is not a valid cursor/), extensions: { code: "BAD_USER_INPUT" } },
    ]);
  });

  it("[pagination:PG-110] of another source are rejected, with the message of a route", async () => {
    const cursor = await cursorAt(serve(new Shelf(9, "other")), 3);
    const client = serve(new Shelf(9));

    const { data, errors } = await ask(client, ALL, `(after: "${cursor}")`);

    expect(data).toBeNull();
    expect(errors).toMatchObject([
      {
        message: "after is not a valid cursor for this list: omit it to start from the first page",
        path: ["books"],
        extensions: { code: "BAD_USER_INPUT" },
      },
    ]);
  });

  it.each(["", "nonsense", "AAAA"])("are rejected if they are invalid: %j", async (cursor) => {
    const shelf = new Shelf(9);
    const { errors } = await ask(serve(shelf), ALL, `(last: 3, before: "${cursor}")`);

    expect(errors).toMatchObject([
      { message: expect.stringMatching(/^before is not a valid cursor/), extensions: { code: "BAD_USER_INPUT" } },
    ]);
    expect(shelf.asked).toEqual([]);
  });

  it("in pageInfo are those of the first and last edge, and null without edges", async () => {
    const client = serve(new Shelf(9));

    const { edges, pageInfo } = await page(client, "(first: 4)");
    const empty = await page(serve(new Shelf(0)));

    expect([pageInfo.startCursor, pageInfo.endCursor]).toEqual([edges[0]?.cursor, edges[3]?.cursor]);
    expect(empty.pageInfo).toEqual({ hasNextPage: false, hasPreviousPage: false, startCursor: null, endCursor: null });
  });

  it("of an unnamed list can be used in the field that returned them", async () => {
    const client = serve(books(5));

    const first = await page(client, "(first: 3)");
    const second = await page(client, `(first: 3, after: "${first.pageInfo.endCursor}")`);

    expect([idsOf(second), ends(second)]).toEqual([
      [4, 5],
      [true, false],
    ]);
  });

  it("beyond the last item are an error if the strategy says so", async () => {
    const client = serve(new Shelf(5), { outOfRange: "error" });
    const { errors } = await ask(client, "{ nodes { id } }", `(after: "${await cursorAt(client, 5)}")`);

    expect(errors).toMatchObject([
      { message: "after is beyond the last page", path: ["books", "nodes"], extensions: { code: "BAD_USER_INPUT" } },
    ]);
  });
});

describe.each([
  ["that seeks", () => new Shelf(10)],
  ["that cannot seek", () => new Pile()],
])("the arguments, over a source %s", (_title, make) => {
  const at = async (args: string): Promise<readonly unknown[]> => {
    const client = serve(make());
    const cursors = new Map<string, string>();
    for (const [, id] of args.matchAll(/#(\d+)/g)) cursors.set(`#${id}`, await cursorAt(client, Number(id)));
    const found = await page(
      client,
      args.replaceAll(/#\d+/g, (mark) => JSON.stringify(cursors.get(mark))),
    );
    return [idsOf(found), ...ends(found)];
  };

  it.each([
    ["(first: 3)", range(1, 3), false, true],
    ["(first: null, last: null)", range(1, 10), false, false],
    ["(first: 3, after: #3)", range(4, 6), true, true],
    ["(first: 3, after: #8)", range(9, 10), true, false],
    ["(last: 3, before: #6)", range(3, 5), true, true],
    ["(last: 9, before: #6)", range(1, 5), false, true],
    ["(before: #6)", range(1, 5), false, true],
    ["(first: 2, before: #6)", range(1, 2), false, true],
  ])("%s", async (args, found, hasPrevious, hasNext) => {
    expect(await at(args)).toEqual([found, hasPrevious, hasNext]);
  });

  it.each([
    ["(first: 3, after: #2, before: #9)", range(3, 5), true, true],
    ["(first: 6, after: #2, before: #9)", range(3, 8), true, false],
    ["(first: 9, after: #2, before: #9)", range(3, 8), true, false],
    ["(after: #2, before: #9)", range(3, 8), true, false],
    ["(last: 3, after: #2, before: #9)", range(6, 8), true, true],
    ["(last: 9, after: #2, before: #9)", range(3, 8), false, true],
    ["(first: 3, after: #4, before: #5)", [], true, false],
    ["(first: 3, after: #4, before: #4)", [], true, false],
    ["(first: 3, before: #1)", [], false, false],
  ])("[pagination:PG-108] %s is the range", async (args, found, hasPrevious, hasNext) => {
    expect(await at(args)).toEqual([found, hasPrevious, hasNext]);
  });

  it("[pagination:PG-109] last without before returns the last items, in the order of the list", async () => {
    expect(await at("(last: 3)")).toEqual([range(8, 10), true, false]);
    expect(await at("(last: 3, after: #8)")).toEqual([range(9, 10), false, false]);
  });

  it("[pagination:PG-105] first: 0 returns no items, and reports whether there are any", async () => {
    expect(await at("(first: 0)")).toEqual([[], false, true]);
  });
});

describe("any arguments", () => {
  const place = fc.option(fc.integer({ min: 1, max: 10 }));

  it.each([
    ["seeks", () => new Shelf(10)],
    ["cannot seek", () => new Pile()],
  ])("[pagination:PG-108] select the items that Relay's rules select, over a source that %s", async (_title, make) => {
    const client = serve(make());
    const { edges } = await page(client);

    await fc.assert(
      fc.asyncProperty(fc.constantFrom("first", "last"), fc.nat(11), place, place, async (way, size, one, other) => {
        const isTurned = one !== null && other !== null && one > other;
        const [after, before] = isTurned ? [other, one] : [one, other];
        const cursorOf = (id: number | null): string => (id === null ? "null" : `"${edges[id - 1]?.cursor}"`);
        const found = await page(client, `(${way}: ${size}, after: ${cursorOf(after)}, before: ${cursorOf(before)})`);
        const within = range(1, 10).filter((id) => id > (after ?? 0) && id < (before ?? 11));
        const isFirst = way === "first";

        expect(idsOf(found)).toEqual(isFirst ? within.slice(0, size) : within.slice(Math.max(0, within.length - size)));
        const isMore = within.length > size;
        expect(ends(found)).toEqual(isFirst ? [after !== null, isMore] : [isMore, before !== null]);
      }),
      { numRuns: 150 },
    );
  });
});

describe("the queries to the source", () => {
  const askedFor = async (selection: string, args = ""): Promise<readonly string[]> => {
    const shelf = new Shelf(50);
    const { errors } = await ask(serve(shelf), selection, args);
    expect(errors).toBeUndefined();
    return shelf.asked;
  };

  it("[pagination:PG-111] include no count unless totalCount is selected, and fetch the rows once", async () => {
    expect(await askedFor("{ edges { cursor node { id } } nodes { id } pageInfo { endCursor } }")).toEqual([
      "forward 21",
    ]);
    expect(await askedFor("{ nodes { id } }", "(last: 3)")).toEqual(["backward 4"]);
    expect(await askedFor("{ nodes { id } }", "(first: 0)")).toEqual(["forward 1"]);
  });

  it("include the key of a row only if its cursor is selected", async () => {
    const keyed: number[] = [];
    class Keyed extends Shelf {
      keyOf({ id }: Book): readonly [number] {
        keyed.push(id);
        return [id];
      }
    }
    const client = serve(new Keyed(50));

    await ask(client, "{ edges { node { id } } nodes { id } pageInfo { hasNextPage hasPreviousPage } totalCount }");
    expect(keyed).toEqual([]);
    await ask(client, "{ pageInfo { endCursor } }");
    expect(keyed).toEqual([20]);
    await ask(client, "{ edges { cursor } }", "(first: 3)");
    expect(keyed).toEqual([20, 1, 2, 3]);
  });

  it("carry the signal of the request, and their errors are masked", async () => {
    class Torn extends Shelf {
      override async getItemsAfter(_seek: SeekRequest, _limit: number, context?: FetchContext): Promise<never> {
        throw new Error(`the shelf is torn, ${context?.signal.aborted}`);
      }
    }
    const log = logCatcher();
    const client = testClient(appOf(new Torn(9), byId, { logger: log }));

    const { errors } = await ask(client, "{ nodes { id } }");

    expect(errors).toMatchObject([{ message: "Unexpected error", path: ["books", "nodes"] }]);
    expect(JSON.stringify(log.lines)).toContain("the shelf is torn, false");
  });

  it("[pagination:PG-112] are only the count if only totalCount is selected", async () => {
    expect(await askedFor("{ totalCount }")).toEqual(["count"]);
  });

  it.each([
    [{}, 50],
    [{ totals: "none" }, null],
    [{ totals: { capped: 10 } }, 10],
  ] as const)("totals %j make totalCount %j", async (options, total) => {
    const { data } = await ask(serve(new Shelf(50), options), "{ totalCount }");

    expect(data?.books.totalCount).toBe(total);
  });
});

describe("the size of a connection", () => {
  it.each([
    ["(first: -1)", "first must be at least 0"],
    ["(last: -1)", "last must be at least 0"],
  ])("[pagination:PG-104] %s is rejected", async (args, message) => {
    const { errors, extensions } = await ask(serve(new Shelf(9)), ALL, args);

    expect(errors).toMatchObject([{ message, path: ["books"], extensions: { code: "BAD_USER_INPUT" } }]);
    expect(extensions?.cost?.cost).toBe(1);
  });

  it("[pagination:PG-107] is set by first or last, not by both", async () => {
    const { errors } = await ask(serve(new Shelf(9)), ALL, "(first: 1, last: 1)");

    expect(errors).toMatchObject([
      { message: "first and last cannot be used together", extensions: { code: "BAD_USER_INPUT" } },
    ]);
  });

  it("[pagination:PG-106] is at most the maximum of the strategy, or rejected", async () => {
    const clamped = await page(serve(new Shelf(200)), "(first: 1000)");
    const { errors } = await ask(serve(new Shelf(200), { overMax: "reject" }), ALL, "(last: 1000)");

    expect(clamped.edges).toHaveLength(100);
    expect(errors).toMatchObject([{ message: "last must be at most 100", extensions: { code: "BAD_USER_INPUT" } }]);
  });

  it.each([
    ["(first: 5)", 1 + 5 * 3],
    ["(first: 1000)", 1 + 100 * 3],
    ["(last: 5)", 1 + 5 * 3],
    ["(last: 1000)", 1 + 100 * 3],
    ["(first: 2, last: 5)", 1 + 5 * 3],
    ["(first: null)", 1 + 20 * 3],
    ["", 1 + 20 * 3],
  ])("[CST-14] [pagination:PG-106] %j multiplies the cost of its selections, %d in total", async (args, cost) => {
    const { extensions } = await ask(serve(new Shelf(9)), "{ edges { node { id } } }", args);

    expect(extensions?.cost?.cost).toBe(cost);
  });

  it("[CST-14] follows the variables", async () => {
    const client = serve(new Shelf(9), { maxPageSize: 50 });
    const query = "query ($first: Int, $last: Int) { books(first: $first, last: $last) { nodes { id } } }";
    const costs: unknown[] = [];
    for (const variables of [{ first: 5 }, { last: 7 }, { last: 1000 }, {}]) {
      const answer = (await client.post("/graphql", { body: { query, variables } })).json() as Answer;
      costs.push(answer.extensions?.cost?.cost);
    }

    expect(costs).toEqual([11, 15, 101, 41]);
  });

  it("[pagination:PG-106] of a hundred items is within the default budget", async () => {
    const app = new PorticoApp({ logger: false, cursorKeys: [SECRET] });
    new Graph(schema({ query: { books: connection(BookType, byId)(() => books(200)) } })).mount(app);

    expect((await page(testClient(app), "(first: 1000)")).edges).toHaveLength(100);
  });
});
