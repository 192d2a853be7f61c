import { Conflict, Depend, rateLimit } from "portico";
import { connection, field, Graph, mutation, type ObjectType, object, schema, t } from "portico/graphql";
import { bookPages, byTitle } from "./pages.ts";
import { type Book, type Shelf, unitOfWork } from "./shelf.ts";

const Isbn = t.scalar<string>("Isbn", {
  description: "13 digits",
  serialize: String,
  parse(value) {
    if (typeof value === "string" && /^\d{13}$/.test(value)) return value;
    throw new TypeError("an ISBN has 13 digits");
  },
});
const BookType: ObjectType<Book> = object("Book", { isbn: Isbn, title: t.string, author: t.string });

/** The same books as those of the routes, as a graph. */
export function booksGraph(shelf: Shelf): Graph {
  const books = field(t.list(BookType), { params: { author: t.nullable(t.string) }, listSize: 100 })(({ author }) =>
    shelf.list().filter((book) => author === null || book.author === author),
  );
  // The same pages as those of GET /books, as a Relay connection: cursors of one work in the other.
  const library = connection(BookType, byTitle)(() => bookPages(shelf));
  const book = field(t.nullable(BookType), { params: { isbn: Isbn } })(({ isbn }) => shelf.find(isbn));

  const addBook = mutation(BookType, {
    params: { isbn: Isbn, title: t.string, author: t.string, draft: Depend(unitOfWork(shelf)) },
  })(({ draft, isbn, title, author }) => {
    // The commit would find out too, and that would be an unexpected error: here the client can be told.
    if (shelf.find(isbn) !== null) throw new Conflict(`There is a book ${isbn} already`, { code: "ISBN_TAKEN" });
    const added = { isbn, title, author };
    draft.add(added);
    return added;
  });

  return new Graph(schema({ query: { books, library, book }, mutation: { addBook } }), {
    transport: { batch: 0 },
    middleware: [rateLimit({ perMinute: 600, name: "graph" })],
  });
}
