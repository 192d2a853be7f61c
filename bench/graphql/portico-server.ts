import { registerHooks } from "node:module";
import type { ObjectType } from "../../src/graphql/index.ts";
import { type AuthorRow, authors, type BookRow, type ItemRow, items } from "./library.ts";
import { report } from "./report.ts";

if (process.argv[2] === "17")
  registerHooks({ resolve: (name, context, next) => next(name === "graphql" ? "graphql17" : name, context) });

const { PorticoApp } = await import("../../src/index.ts");
const { field, Graph, Metrics, mutation, object, OperationLog, schema, t } = await import("../../src/graphql/index.ts");

const Book: ObjectType<BookRow> = object("Book", { id: t.id, title: t.string, year: t.int, price: t.float });
const Author: ObjectType<AuthorRow> = object("Author", {
  id: t.id,
  name: t.string,
  born: t.int,
  country: t.string,
  genre: t.string,
  books: field(t.list(Book), { params: { first: t.int(5) } })(async ({ parent, first }) =>
    parent.books.slice(0, first),
  ),
});
const Item: ObjectType<ItemRow> = object("Item", { id: t.id, name: t.string });
const BookInput = t.input("BookInput", { title: t.string, year: t.int, price: t.float(10) });

const graph = new Graph(
  schema({
    query: {
      hello: field(t.string)(() => "world"),
      authors: field(t.list(Author), { params: { first: t.int(20) } })(async ({ first }) => authors.slice(0, first)),
      items: field(t.list(Item))(async () => items),
    },
    mutation: {
      addBook: mutation(Book, { params: { input: BookInput } })(async ({ input }) => ({ id: "new", ...input })),
    },
  }),
);
graph.onOperation(new Metrics());
graph.onOperation(new OperationLog());
const app = new PorticoApp({ logger: { level: "warn" } });
graph.mount(app);
const { port } = await app.listen({ port: 0 });
report(port);
