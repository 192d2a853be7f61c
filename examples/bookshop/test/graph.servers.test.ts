import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { GraphResult } from "portico/testing";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { openShop, type Shop } from "./open-shop.ts";
import { byToken, type Headers, upload } from "./sign-in.ts";

let shop: Shop;
const signedIn: Record<string, Headers> = {};
beforeAll(async () => {
  shop = await openShop({ books: 120 });
  for (const name of ["reader1", "reader2", "staff"]) signedIn[name] = await byToken(shop.client, name);
});

const ask = <Data>(document: string, variables = {}, as?: string): Promise<GraphResult<Data>> =>
  shop.client.graphql<Data>(document, variables, { headers: as === undefined ? {} : (signedIn[as] ?? {}) });

const stock = async (id: string): Promise<unknown> =>
  ((await shop.client.get(`/books/${id}`)).json() as { readonly stock: number }).stock;

/** Counts the statements that are sent until the test ends. */
function statements(): { readonly count: number } {
  const sent = { count: 0 };
  const add = (): void => void sent.count++;
  subscribe("bookshop.statements", add);
  onTestFinished(() => void unsubscribe("bookshop.statements", add));
  return sent;
}

describe("a query", () => {
  it("sends as many statements for 100 books as for one", async () => {
    const document = `query Page($first: Int!) {
      books(first: $first) { nodes { title stars cover author { name books { nodes { title } } } reviews { stars reader } } }
    }`;
    await ask(document, { first: 1 });
    const sent = statements();

    const one = await ask(document, { first: 1 });
    const forOne = sent.count;
    const hundred = await ask<{ books: { nodes: unknown[] } }>(document, { first: 100 });

    expect([one.errors, hundred.errors]).toEqual([undefined, undefined]);
    expect(hundred.data?.books.nodes).toHaveLength(100);
    // The page, its authors, their books, the ratings, the covers, the reviews and their reviewers.
    expect([forOne, sent.count - forOne]).toEqual([7, 7]);
  });

  it("reads a page of the books of every author with one statement, and rejects a cursor of another author", async () => {
    interface Found {
      readonly id: string;
      readonly books: { readonly nodes: readonly { readonly id: string }[]; readonly pageInfo: { endCursor: string } };
    }
    const page = "{ nodes { id } pageInfo { endCursor } totalCount }";
    const search = `{ search(text: "") { ... on Author { id books(first: 2) ${page} } } }`;
    await ask(search);
    const sent = statements();

    const { data } = await ask<{ search: readonly Found[] }>(search);
    const count = sent.count;
    const authors = data?.search.filter((found) => "books" in found) ?? [];
    const [one, other] = authors;
    const after = `query ($id: ID!, $after: String) { author(id: $id) { books(first: 2, after: $after) ${page} } }`;
    const cursor = one?.books.pageInfo.endCursor;
    const next = await ask<{ author: Found }>(after, { id: one?.id, after: cursor });
    const swapped = await ask(after, { id: other?.id, after: cursor });

    expect(authors.length).toBeGreaterThan(1);
    // The authors and the books that are found, a page of books for each author, and their totals.
    expect(count).toBe(4);
    const ids = [one?.books, next.data?.author.books].flatMap((books) => books?.nodes.map(({ id }) => id) ?? []);
    expect(new Set(ids).size).toBe(4);
    expect(swapped.errors).toMatchObject([{ path: ["author", "books"], extensions: { code: "BAD_USER_INPUT" } }]);
  });

  it("finds a book by its id or its ISBN, and rejects an invalid ISBN", async () => {
    const byId = await ask('{ book(by: { id: "book-9" }) { isbn genre author { name } } }');
    const byIsbn = await ask('{ book(by: { isbn: "9780000000009" }) { id } }');
    const none = await ask('{ book(by: { isbn: "9780000009999" }) { id } }');
    const senseless = await ask('{ book(by: { isbn: "emma" }) { id } }');

    expect(byId.data).toMatchObject({
      book: { isbn: "9780000000009", genre: "children", author: { name: expect.any(String) } },
    });
    expect([byIsbn.data, none.data]).toEqual([{ book: { id: "book-9" } }, { book: null }]);
    expect(senseless.errors?.[0]?.message).toContain("an ISBN must have 13 digits");
  });

  it("finds books and authors by their first letters, and treats a percent sign as text", async () => {
    const found = "fragment F on SearchResult { __typename ... on Author { name } ... on Book { title } }";

    const { data } = await ask<Record<"a" | "b" | "c", { __typename: string }[]>>(
      `{ a: search(text: "Bruno") { ...F } b: search(text: "Beyond") { ...F } c: search(text: "%") { ...F } } ${found}`,
    );

    expect(data?.a).toMatchObject([{ __typename: "Author", name: expect.stringMatching(/^Bruno /) }]);
    expect(data?.b).toHaveLength(10);
    expect(data?.b.every(({ __typename }) => __typename === "Book")).toBe(true);
    expect(data?.c).toEqual([]);
  });

  it("returns everything except the fields that the caller may not see", async () => {
    const document = '{ book(by: { id: "book-1" }) { title costCents } }';

    const [anonymous, reader, staff] = [
      await ask(document),
      await ask(document, {}, "reader1"),
      await ask(document, {}, "staff"),
    ];

    expect(anonymous.data).toMatchObject({ book: { title: expect.any(String), costCents: null } });
    expect(anonymous.errors).toMatchObject([{ path: ["book", "costCents"], extensions: { code: "UNAUTHENTICATED" } }]);
    expect(reader.errors).toMatchObject([{ extensions: { code: "FORBIDDEN" } }]);
    expect(staff).toMatchObject({ data: { book: { costCents: 337 } } });
    expect(staff.errors).toBeUndefined();
  });

  it("is rejected if it requests too much", async () => {
    const { errors } = await ask(
      "{ books(first: 100) { nodes { author { books { nodes { reviews { book { reviews { stars } } } } } } } } }",
    );

    expect(errors).toMatchObject([{ extensions: { code: "COST_LIMIT_EXCEEDED" } }]);
  });
});

describe("an order", () => {
  const ORDER = `mutation Order($books: [OrderedBook!]!) {
    placeOrder(books: $books) { id state totalCents buyer lines { copies priceCents book { id stock } } }
  }`;

  it("takes copies out of stock, and returns its own changes", async () => {
    const [before, other] = [await stock("book-10"), await stock("book-11")];

    const { data, errors } = await ask(
      ORDER,
      { books: [{ book: "book-11" }, { book: "book-10", copies: 2 }] },
      "reader1",
    );

    expect(errors).toBeUndefined();
    expect(data).toMatchObject({
      placeOrder: {
        state: "placed",
        totalCents: 2 * 870 + 907,
        buyer: "reader1",
        lines: [
          { copies: 2, priceCents: 870, book: { id: "book-10", stock: Number(before) - 2 } },
          { copies: 1, priceCents: 907, book: { id: "book-11", stock: Number(other) - 1 } },
        ],
      },
    });
    expect([await stock("book-10"), await stock("book-11")]).toEqual([Number(before) - 2, Number(other) - 1]);
  });

  it("is all or nothing: if one book is missing, no other is sold", async () => {
    const before = await stock("book-12");

    const { data, errors } = await ask(
      ORDER,
      { books: [{ book: "book-12" }, { book: "book-13", copies: 99 }] },
      "reader1",
    );
    const empty = await ask(ORDER, { books: [] }, "reader1");

    expect(data).toEqual({ placeOrder: null });
    expect(errors).toMatchObject([
      { message: expect.stringMatching(/^Only \d+ copies of /), extensions: { code: "OUT_OF_STOCK" } },
    ]);
    expect(await stock("book-12")).toBe(before);
    expect(empty.errors).toMatchObject([{ extensions: { code: "NOTHING_ORDERED" } }]);
  });

  it("merges duplicate lines, and rejects more copies than the maximum", async () => {
    const twice = await ask<{ placeOrder: { lines: object[] } }>(
      ORDER,
      { books: [{ book: "book-18" }, { book: "book-18", copies: 2 }] },
      "reader1",
    );
    const greedy = await ask(
      ORDER,
      {
        books: [
          { book: "book-18", copies: 60 },
          { book: "book-18", copies: 60 },
        ],
      },
      "reader1",
    );

    expect(twice.data?.placeOrder.lines).toMatchObject([{ copies: 3 }]);
    expect(greedy.errors).toMatchObject([{ extensions: { code: "TOO_MUCH_ORDERED" } }]);
  });

  it("is placed once if two users want the last copy", async () => {
    await ask('mutation { changeBook(id: "book-14", change: { stock: 1 }) { stock } }', {}, "staff");
    const books = [{ book: "book-14" }];

    const answers = await Promise.all([ask(ORDER, { books }, "reader1"), ask(ORDER, { books }, "reader2")]);

    expect(answers.filter(({ errors }) => errors === undefined)).toHaveLength(1);
    expect(await stock("book-14")).toBe(0);
  });

  it("can also be placed and listed by routes, with shared cursors, and users see only their own", async () => {
    const headers = signedIn["reader2"] ?? {};
    const placed = await shop.client.post("/orders", { body: { books: [{ book: "book-15" }] }, headers });
    await shop.client.post("/orders", { body: { books: [{ book: "book-16" }] }, headers });

    const mine = await ask<{ orders: { pageInfo: { endCursor: string } } }>(
      "{ orders(first: 1) { nodes { id } pageInfo { endCursor } } }",
      {},
      "reader2",
    );
    const cursor = mine.data?.orders.pageInfo.endCursor ?? "";
    const rest = await shop.client.get("/orders", { query: { cursor }, headers });
    const theirs = await shop.client.get("/orders", { query: { cursor }, headers: signedIn["reader1"] ?? {} });

    expect(placed.status).toBe(201);
    const { id, state, at } = placed.json() as Record<string, unknown>;
    expect(rest.json()).toMatchObject({ items: expect.arrayContaining([{ id, state, at }]) });
    expect(theirs.json()).toMatchObject({ status: 400, code: "cursor_mismatch" });
    expect((await ask("{ myOrders { nodes { id } } }")).errors).toMatchObject([
      { extensions: { code: "UNAUTHENTICATED" } },
    ]);
  });

  it("is shipped once, by staff", async () => {
    const { data } = await ask<{ placeOrder: { id: string } }>(ORDER, { books: [{ book: "book-17" }] }, "reader1");
    const id = data?.placeOrder.id;
    const ship = "mutation ($id: ID!) { shipOrder(id: $id) { state buyer } }";

    const reader = await ask(ship, { id }, "reader1");
    const staff = await ask(ship, { id }, "staff");
    const again = await ask(ship, { id }, "staff");

    expect(reader.errors).toMatchObject([{ extensions: { code: "FORBIDDEN" } }]);
    expect(staff.data).toEqual({ shipOrder: { state: "shipped", buyer: "reader1" } });
    expect(again.errors).toMatchObject([{ extensions: { code: "ORDER_CLOSED" } }]);
  });
});

describe("a review", () => {
  it("is unique per reader and book, and changes the average immediately", async () => {
    const write = `mutation ($stars: Int!) {
      writeReview(review: { book: "book-20", stars: $stars, text: "Read it." }) { reader stars book { stars reviews { reader } } }
    }`;

    const first = await ask(write, { stars: 1 }, "reader2");
    const second = await ask<{ writeReview: { book: { reviews: { reader: string }[] } } }>(
      write,
      { stars: 5 },
      "reader2",
    );
    const wrong = await ask(write, { stars: 6 }, "reader2");

    const reviews = second.data?.writeReview.book.reviews;
    expect(first.data).toMatchObject({ writeReview: { reader: "reader2", stars: 1 } });
    expect(second.data).toMatchObject({ writeReview: { stars: 5 } });
    expect(reviews?.filter(({ reader }) => reader === "reader2")).toHaveLength(1);
    expect(wrong.errors).toMatchObject([
      { extensions: { code: "BAD_USER_INPUT", errors: [{ in: "arguments", path: ["review", "stars"] }] } },
    ]);
  });

  it("is found again by its id, like several of them in one statement", async () => {
    const review = 'writeReview(review: { book: "book-23", stars: 4, text: "Again." }) { id stars }';
    const written = await ask<{ writeReview: { id: string } }>(`mutation { ${review} }`, {}, "reader2");
    const { id } = written.data?.writeReview ?? { id: "" };

    const { data } = await ask("query ($ids: [ID!]!) { nodes(ids: $ids) { __typename id ... on Review { stars } } }", {
      ids: [id, "unknown", id],
    });

    const found = { __typename: "Review", id, stars: 4 };
    expect(data).toEqual({ nodes: [found, null, found] });
  });

  it("is limited to twenty a minute per reader, however many are in one request", async () => {
    const ten = Array.from(
      { length: 10 },
      (_, n) => `r${n}: writeReview(review: { book: "book-22", stars: 3 }) { stars }`,
    );
    const write = `mutation { ${ten.join(" ")} }`;

    const answers = [await ask(write, {}, "reader1"), await ask(write, {}, "reader1"), await ask(write, {}, "reader1")];

    expect(answers.map(({ errors }) => errors?.[0]?.extensions?.["code"])).toEqual([
      undefined,
      undefined,
      "RATE_LIMITED",
    ]);
    expect(answers[2]?.errors?.[0]?.extensions?.["retryAfter"]).toBeGreaterThan(0);
  });

  it("is listed in its reader's activity together with orders, latest first", async () => {
    await ask('mutation { placeOrder(books: [{ book: "book-21" }]) { id } }', {}, "reader2");

    const { data } = await ask<{ myActivity: { __typename: string; at: string }[] }>(
      "{ myActivity { __typename id at ... on Review { stars } ... on Order { totalCents } } }",
      {},
      "reader2",
    );

    const activity = data?.myActivity ?? [];
    expect(activity[0]).toMatchObject({ __typename: "Order", totalCents: expect.any(Number) });
    expect(activity.map(({ __typename }) => __typename)).toContain("Review");
    expect(activity.map(({ at }) => at)).toEqual(
      activity
        .map(({ at }) => at)
        .toSorted()
        .toReversed(),
    );
  });
});

describe("the books", () => {
  it("can be added with their author, and changed field by field", async () => {
    const add = `mutation ($book: NewBook!) { addBook(book: $book) { id stock author { books { nodes { title } } } } }`;
    const book = {
      isbn: "9780141439686",
      title: "Persuasion",
      genre: "novel",
      authorId: "author-2",
      priceCents: 850,
      costCents: 400,
    };

    const added = await ask<{ addBook: { id: string } }>(add, { book }, "staff");
    const again = await ask(add, { book }, "staff");
    const id = added.data?.addBook.id;
    const changed = await ask(
      "mutation ($id: ID!) { changeBook(id: $id, change: { priceCents: 900 }) { title priceCents stock } }",
      { id },
      "staff",
    );

    expect(added.data).toMatchObject({
      addBook: { stock: 0, author: { books: { nodes: expect.arrayContaining([{ title: "Persuasion" }]) } } },
    });
    expect(again.errors).toMatchObject([{ extensions: { code: "ISBN_TAKEN" } }]);
    expect(changed.data).toEqual({ changeBook: { title: "Persuasion", priceCents: 900, stock: 0 } });
    expect((await ask(add, { book }, "reader1")).errors).toMatchObject([{ extensions: { code: "FORBIDDEN" } }]);
  });

  it.each([
    ["priceCents: -1", "expected a whole number from 0 to 1000000"],
    ["stock: 3000000000", "expected a whole number from 0 to 1000000"],
    ['title: " "', "a title must have 1 to 500 characters"],
  ])("reject invalid changes: %s", async (change, sentence) => {
    const { errors } = await ask(`mutation { changeBook(id: "book-1", change: { ${change} }) { id } }`, {}, "staff");

    expect(errors).toMatchObject([
      { message: expect.stringContaining(sentence), extensions: { code: "GRAPHQL_VALIDATION_FAILED" } },
    ]);
  });

  it("get covers, which must be images of at most two megabytes", async () => {
    const cover = "mutation ($book: ID!, $file: Upload!) { setCover(book: $book, file: $file) { cover } }";
    const send = async (type: string, bytes: Uint8Array) => {
      const { headers, body } = upload(cover, { book: "book-30" }, { type, bytes });
      return shop.client.post("/graphql", { headers: { ...headers, ...signedIn["staff"] }, body });
    };
    const picture = Buffer.from("89504e470d0a1a0a00ff", "hex");

    const [stored, text, large] = [
      await send("image/png", picture),
      await send("text/html", Buffer.from("<script>")),
      await send("image/png", Buffer.alloc(3 * 1024 ** 2)),
    ];
    const shown = await shop.client.get("/books/book-30/cover");

    expect(stored.json()).toMatchObject({ data: { setCover: { cover: "/books/book-30/cover" } } });
    expect([text.status, large.status]).toEqual([400, 413]);
    expect([shown.headers["content-type"], Buffer.from(shown.bytes())]).toEqual(["image/png", picture]);
    expect((await shop.client.get("/books/book-31/cover")).status).toBe(404);
  });
});
