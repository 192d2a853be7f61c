import { Conflict, PorticoApp, type PorticoAppOptions } from "portico";
import { booksRouter } from "./books.ts";
import { booksGraph } from "./graph.ts";
import { IsbnTaken, Shelf } from "./shelf.ts";

export interface BookshopOptions {
  /** The books to begin with. @default one, so that there is something to see */
  readonly shelf?: Shelf;
  /** How many books one client may add in a minute. @default 30 */
  readonly addsPerMinute?: number;
  /** What the framework takes: tests hand in their log here. */
  readonly app?: PorticoAppOptions;
}

/** Builds the application, and does not start it: the server listens, a test asks it directly. */
export function bookshop({ shelf = firstShelf(), addsPerMinute = 30, app: options }: BookshopOptions = {}): PorticoApp {
  const app = new PorticoApp({ title: "Bookshop", version: "1.0.0", ...options });
  app.mount("/books", booksRouter({ shelf, addsPerMinute }));
  booksGraph(shelf).mount(app);
  // The shelf knows nothing of HTTP: what its error means to a client is said here.
  app.addExceptionHandler(IsbnTaken, (_request, _response, { isbn }) => {
    throw new Conflict(`There is a book ${isbn} already`, { code: "ISBN_TAKEN" });
  });
  return app;
}

function firstShelf(): Shelf {
  return new Shelf([{ isbn: "9780141439549", title: "Middlemarch", author: "George Eliot" }]);
}
