import { type BaseContext, type CurrentUser, Depend, rule } from "portico";
import { connection, field, type ObjectType, type Of, object, t } from "portico/graphql";
import {
  AsyncListDataHandler,
  CursorPagination,
  type DataHandler,
  LimitOffsetPagination,
  SyncListDataHandler,
} from "portico/pagination";
import { describe, expectTypeOf, it } from "vitest";

interface BookRow {
  id: string;
  title: string;
  published_at: string;
}
declare const rows: readonly BookRow[];
declare const others: readonly { readonly id: string }[];
const Book: ObjectType<BookRow> = object("Book", { id: t.id, title: t.string });
const newest = new CursorPagination({ order: [["published_at", "desc"]] });
const shelf = (): DataHandler<BookRow> => new SyncListDataHandler(rows);

class Shop {
  @connection(Book, newest)
  books(): readonly BookRow[] {
    return rows;
  }
  // @ts-expect-error: rows of something else
  @connection(Book, newest)
  others(): typeof others {
    return others;
  }
}

describe("connection", () => {
  it("decorates a method that returns a source", () => {
    expectTypeOf<Shop["books"]>().returns.toEqualTypeOf<readonly BookRow[]>();
  });

  it("accepts a source of the node's rows: a sync or async handler, a list, or the promise of one", () => {
    connection(Book, newest)(() => rows);
    connection(Book, newest)(async () => rows);
    connection(Book, newest)(() => new AsyncListDataHandler(rows));
    connection(() => Book, newest)(() => new SyncListDataHandler(rows));
    // @ts-expect-error: rows of something else
    connection(Book, newest)(() => others);
    // @ts-expect-error: a source of something else
    connection(Book, newest)(() => new SyncListDataHandler(others));
    // @ts-expect-error: a row is not a list
    connection(Book, newest)(() => rows[0]);
  });

  it("gives a resolver only the columns that its field reads", () => {
    const Shelf: ObjectType<BookRow> = object("Shelf", {
      label: field(t.string, { reads: ["id", "title"] })(({ parent }) => {
        expectTypeOf(parent).toEqualTypeOf<Pick<BookRow, "id" | "title">>();
        return parent.title;
      }),
      whole: field(t.string)(({ parent }) => {
        expectTypeOf(parent).toEqualTypeOf<BookRow>();
        return parent.title;
      }),
      gated: field(t.string, {
        reads: ["published_at"],
        auth: (_user, { parent }: Of<BookRow>) => parent.published_at !== "",
      })(({ parent }) => {
        expectTypeOf(parent).toEqualTypeOf<Pick<BookRow, "published_at">>();
        return parent.published_at;
      }),
      title: field(t.string, { reads: ["id"] }),
      more: connection(Book, newest, { columns: "selected", reads: ["id"] })(({ parent }) => {
        expectTypeOf(parent).toEqualTypeOf<Pick<BookRow, "id">>();
        return rows;
      }),
    });
    expectTypeOf(Shelf).toEqualTypeOf<ObjectType<BookRow>>();
    const wrong: ObjectType<BookRow> = object("Wrong", {
      // @ts-expect-error: the row has no such column
      label: field(t.string, { reads: ["price"] })(() => ""),
    });
    const undeclared: ObjectType<BookRow> = object("Undeclared", {
      // @ts-expect-error: the column is not declared
      label: field(t.string, { reads: ["id"] })(({ parent }) => parent.title),
    });
    expectTypeOf(wrong).toEqualTypeOf(undeclared);
    // @ts-expect-error: the only value
    connection(Book, newest, { columns: "all" });
    // @ts-expect-error: the row has no such column
    rule<BookRow>({ name: "x", reads: ["price"], allows: () => true });
  });

  it("accepts a cursor strategy over columns that the rows have", () => {
    connection(Book, new CursorPagination());
    // @ts-expect-error: no such column
    connection(Book, new CursorPagination({ sortField: "price" }));
    connection(
      Book,
      new CursorPagination({
        sortable: { publishedAt: "published_at" },
        filterable: { name: { column: "title", type: "text", by: ["prefix"] } },
      }),
    );
    connection(Book, new CursorPagination({ filterable: { title: { type: "text", by: ["prefix"] } } }));
    // @ts-expect-error: no such column to sort by
    connection(Book, new CursorPagination({ sortable: { price: "price_cents" } }));
    // @ts-expect-error: no such column to filter by
    connection(Book, new CursorPagination({ filterable: { price: { type: "integer", by: ["range"] } } }));
    // @ts-expect-error: no such column under another name
    connection(Book, new CursorPagination({ filterable: { title: { column: "name", type: "text", by: ["equal"] } } }));
    // @ts-expect-error: it has no cursors
    connection(Book, new LimitOffsetPagination());
    // @ts-expect-error: a strategy, not its name
    connection(Book, "cursor");
  });

  it("infers the parameter of its resolver, as a field does", () => {
    connection(Book, newest, { params: { shelf: Depend(shelf), genre: t.nullable(t.string) } })((args) => {
      expectTypeOf(args.shelf).toEqualTypeOf<DataHandler<BookRow>>();
      expectTypeOf(args.genre).toEqualTypeOf<string | null>();
      return args.shelf;
    });
    connection(Book, newest, { auth: true, description: "Yours." })(({ ctx }) => {
      expectTypeOf(ctx.user).toEqualTypeOf<CurrentUser>();
      return rows;
    });
    // @ts-expect-error: not declared
    connection(Book, newest)(({ genre }) => (genre === null ? rows : rows));
    const Author: ObjectType<{ readonly id: string }> = object("Author", {
      id: t.id,
      books: connection(Book, newest)(({ parent }) => rows.filter(({ id }) => id === parent.id)),
    });
    expectTypeOf(Author).toEqualTypeOf<ObjectType<{ readonly id: string }>>();
  });

  it("types the parent of its filter as the filter names it, with or without a gate", () => {
    interface AuthorRow {
      readonly id: string;
    }
    const params = { genre: t.string, shelf: Depend(shelf) };
    const Author: ObjectType<AuthorRow> = object("Author", {
      id: t.id,
      open: connection(Book, newest, {
        cursorScope: ({ parent }: Of<AuthorRow>) => {
          expectTypeOf(parent).toEqualTypeOf<AuthorRow>();
          return { author: parent.id };
        },
      })(({ parent }) => {
        expectTypeOf(parent).toEqualTypeOf<AuthorRow>();
        return rows;
      }),
      gated: connection(Book, newest, {
        auth: true,
        cursorScope: ({ parent }: Of<AuthorRow>) => ({ author: parent.id }),
      })(() => rows),
      withParams: connection(Book, newest, {
        params,
        cursorScope: ({ parent, args }: Of<AuthorRow, typeof params>) => {
          expectTypeOf(args).toEqualTypeOf<{ readonly genre: string }>();
          return { author: parent.id, genre: args.genre };
        },
      })(() => rows),
      withoutThem: connection(Book, newest, {
        params,
        cursorScope: ({ parent }: Of<AuthorRow>) => ({ author: parent.id }),
      })(() => rows),
      byItsGate: connection(Book, newest, {
        auth: (user, { parent }: Of<AuthorRow>) => parent.id === user.identity,
        cursorScope: ({ parent }) => {
          expectTypeOf(parent).toEqualTypeOf<AuthorRow>();
          return { author: parent.id };
        },
      })(() => rows),
    });
    connection(Book, newest, {
      params,
      cursorScope: ({ args, ctx }) => {
        expectTypeOf(args).toEqualTypeOf<{ readonly genre: string }>();
        expectTypeOf(ctx).toEqualTypeOf<BaseContext>();
        return { genre: args.genre };
      },
    });
    // @ts-expect-error the parent is not named
    connection(Book, newest, { cursorScope: ({ parent }) => ({ author: parent.id }) });
    // @ts-expect-error a wrong property of the parent
    connection(Book, newest, { cursorScope: ({ parent }: Of<AuthorRow>) => ({ author: parent.ids }) });
    // @ts-expect-error an argument that the connection does not take
    connection(Book, newest, { cursorScope: ({ args }: Of<AuthorRow, typeof params>) => ({ genre: args.genre }) });
    const Shelf: ObjectType<{ readonly room: number }> = object("Shelf", {
      // @ts-expect-error the filter is over authors
      books: connection(Book, newest, { cursorScope: ({ parent }: Of<AuthorRow>) => ({ author: parent.id }) })(
        () => rows,
      ),
    });
    void [Author, Shelf];
  });

  it("rejects ...rest in the parameter of its resolver", () => {
    // @ts-expect-error a field has a fixed list of arguments
    connection(Book, newest, { params: { genre: t.string } })(({ genre, ...rest }) => (genre in rest ? rows : rows));
  });

  it("rejects its own arguments in params, and listSize", () => {
    // @ts-expect-error: an argument of every connection
    connection(Book, newest, { params: { first: t.int } });
    // @ts-expect-error: it follows from the strategy
    connection(Book, newest, { listSize: 5 });
    const Author: ObjectType<{ readonly books: readonly BookRow[] }> = object("Author", {
      // @ts-expect-error: a connection needs a resolver
      books: connection(Book, newest),
    });
    expectTypeOf(Author.name).toBeString();
  });

  it("refers to the parent by columns of its rows", () => {
    interface ChapterRow {
      readonly id: number;
      readonly book_id: string;
      readonly shelf: string;
    }
    const Chapter: ObjectType<ChapterRow> = object("Chapter", { id: t.int });
    const byId = new CursorPagination();
    const chapters = (): DataHandler<ChapterRow> => new SyncListDataHandler<ChapterRow>([]);

    const ofBook = connection(Chapter, byId, { parent: { book_id: "id" } })(chapters);
    const inBook: ObjectType<BookRow> = object("Book", { id: t.id, chapters: ofBook });
    expectTypeOf(inBook).toEqualTypeOf<ObjectType<BookRow>>();
    connection(Chapter, byId, { parent: { book_id: "id" }, params: { shelf: t.string } })(({ shelf, ctx }) => {
      expectTypeOf(shelf).toEqualTypeOf<string>();
      expectTypeOf(ctx).toEqualTypeOf<BaseContext>();
      return chapters();
    });
    // @ts-expect-error: the id of this parent is a number
    const inNumbered: ObjectType<{ readonly id: number }> = object("Numbered", { id: t.int, chapters: ofBook });
    expectTypeOf(inNumbered).toEqualTypeOf<ObjectType<{ readonly id: number }>>();
    // @ts-expect-error: the rows have no such column
    connection(Chapter, byId, { parent: { author_id: "id" } });
    // @ts-expect-error: one of the columns does not exist
    connection(Chapter, byId, { parent: { book_id: "id", author_id: "id" } });
    connection(Chapter, byId, { parent: { book_id: "id" } })(({ parent }) => {
      // @ts-expect-error: the resolver runs once for all parents
      expectTypeOf(parent.id).toEqualTypeOf<string>();
      return chapters();
    });
    // @ts-expect-error: a list in memory cannot be read for many parents
    connection(Chapter, byId, { parent: { book_id: "id" } })(() => [] as ChapterRow[]);
  });
});
