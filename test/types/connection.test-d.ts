import { type BaseContext, type CurrentUser, Depend } from "portico";
import { connection, type ObjectType, type Of, object, t } from "portico/graphql";
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

  it("accepts a cursor strategy over columns that the rows have", () => {
    connection(Book, new CursorPagination());
    // @ts-expect-error: no such column
    connection(Book, new CursorPagination({ sortField: "price" }));
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
        filter: ({ parent }: Of<AuthorRow>) => {
          expectTypeOf(parent).toEqualTypeOf<AuthorRow>();
          return { author: parent.id };
        },
      })(({ parent }) => {
        expectTypeOf(parent).toEqualTypeOf<AuthorRow>();
        return rows;
      }),
      gated: connection(Book, newest, { auth: true, filter: ({ parent }: Of<AuthorRow>) => ({ author: parent.id }) })(
        () => rows,
      ),
      withParams: connection(Book, newest, {
        params,
        filter: ({ parent, args }: Of<AuthorRow, typeof params>) => {
          expectTypeOf(args).toEqualTypeOf<{ readonly genre: string }>();
          return { author: parent.id, genre: args.genre };
        },
      })(() => rows),
      withoutThem: connection(Book, newest, { params, filter: ({ parent }: Of<AuthorRow>) => ({ author: parent.id }) })(
        () => rows,
      ),
      byItsGate: connection(Book, newest, {
        auth: (user, { parent }: Of<AuthorRow>) => parent.id === user.identity,
        filter: ({ parent }) => {
          expectTypeOf(parent).toEqualTypeOf<AuthorRow>();
          return { author: parent.id };
        },
      })(() => rows),
    });
    connection(Book, newest, {
      params,
      filter: ({ args, ctx }) => {
        expectTypeOf(args).toEqualTypeOf<{ readonly genre: string }>();
        expectTypeOf(ctx).toEqualTypeOf<BaseContext>();
        return { genre: args.genre };
      },
    });
    // @ts-expect-error the parent is not named
    connection(Book, newest, { filter: ({ parent }) => ({ author: parent.id }) });
    // @ts-expect-error a wrong property of the parent
    connection(Book, newest, { filter: ({ parent }: Of<AuthorRow>) => ({ author: parent.ids }) });
    // @ts-expect-error an argument that the connection does not take
    connection(Book, newest, { filter: ({ args }: Of<AuthorRow, typeof params>) => ({ genre: args.genre }) });
    const Shelf: ObjectType<{ readonly room: number }> = object("Shelf", {
      // @ts-expect-error the filter is over authors
      books: connection(Book, newest, { filter: ({ parent }: Of<AuthorRow>) => ({ author: parent.id }) })(() => rows),
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
});
