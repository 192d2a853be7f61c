import { type Provider, provide, type Topic, topic } from "portico";

export interface Book {
  readonly isbn: string;
  readonly title: string;
  readonly author: string;
}

export class IsbnTaken extends Error {
  readonly isbn: string;

  constructor(isbn: string) {
    super(`the ISBN ${isbn} is taken`);
    this.isbn = isbn;
  }
}

/** The books, in memory; a real shop has a database here. */
export class Shelf {
  readonly #books: Map<string, Book>;

  constructor(books: readonly Book[] = []) {
    this.#books = new Map(books.map((book) => [book.isbn, book]));
  }

  list(): readonly Book[] {
    return [...this.#books.values()];
  }
  find(isbn: string): Book | null {
    return this.#books.get(isbn) ?? null;
  }
  begin(): Draft {
    return new Draft(this.#books);
  }
}

/** Changes that are made together, when they are committed, or not at all. */
export class Draft {
  readonly #books: Map<string, Book>;
  readonly added: Book[] = [];

  constructor(books: Map<string, Book>) {
    this.#books = books;
  }

  add(book: Book): void {
    this.added.push(book);
  }
  commit(): void {
    const taken = this.added.find(({ isbn }) => this.#books.has(isbn));
    if (taken !== undefined) throw new IsbnTaken(taken.isbn);
    for (const book of this.added) this.#books.set(book.isbn, book);
  }
}

/** Every book that is on the shelf from now on. */
export const bookAdded: Topic<Book> = topic<Book>("books.added");

/**
 * A draft for one request. It is committed when the handler was a success, before the answer leaves: a commit that fails
 * is the answer. The news goes out after that, so nobody hears of a book that is not there.
 */
export function unitOfWork(shelf: Shelf): Provider<Draft> {
  return provide(async function* ({ ctx }) {
    const draft = shelf.begin();
    try {
      yield draft;
    } finally {
      if (ctx.outcome === "success") {
        draft.commit();
        for (const book of draft.added) await ctx.pubsub.publish(bookAdded, book);
      }
    }
  });
}
