import "./use-graphql.ts";
import type { GraphOptions, ObjectType } from "../../../src/graphql/index.ts";
import type { PorticoAppOptions } from "../../../src/index.ts";
import { type AuthorRow, authors, type BookRow, type ItemRow, items } from "./library.ts";
import { PATIENT, report } from "./report.ts";

const { Metrics, PorticoApp } = await import("../../../src/index.ts");
const { field, Graph, mutation, object, OperationLog, schema, t } = await import("../../../src/graphql/index.ts");

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

const built = schema({
  query: {
    hello: field(t.string)(() => "world"),
    authors: field(t.list(Author), { params: { first: t.int(20) } })(async ({ first }) => authors.slice(0, first)),
    items: field(t.list(Item))(async () => items),
  },
  mutation: {
    addBook: mutation(Book, { params: { input: BookInput } })(async ({ input }) => ({ id: "new", ...input })),
  },
});

// Every protection that an option turns off. Masking, correlation ids, the checks of the load and of forgery stay on: they have
// no option.
const OFF: readonly [PorticoAppOptions, GraphOptions] = [
  { logger: false, health: false, timeouts: { handlerSeconds: 0 } },
  {
    limits: {
      cost: null,
      depth: null,
      aliases: null,
      breadth: null,
      fields: null,
      characters: null,
      tokens: null,
      directives: null,
    },
    transport: { batch: 0, graphqlContentType: false },
    introspection: true,
    timeoutSeconds: 0,
  },
];
const isOff = process.argv[3] === "off";
const [appOptions, graphOptions] = isOff ? OFF : [];
const app = new PorticoApp({ ...appOptions, load: PATIENT });
const graph = new Graph(built, graphOptions);
if (!isOff) graph.onOperation(new Metrics()).onOperation(new OperationLog());
graph.mount(app);
const { port } = await app.listen({ port: 0 });
report(port);
