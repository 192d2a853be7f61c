import type { GraphQLSchema } from "graphql";
import type { Kysely } from "kysely";
import { isIn, PorticoApp, rule } from "portico";
import { SimpleUser } from "portico/auth";
import {
  connection,
  field,
  Graph,
  type GraphOptions,
  type InterfaceType,
  loader,
  type ObjectType,
  type Of,
  type OperationHook,
  object,
  schema,
  t,
} from "portico/graphql";
import { CursorPagination } from "portico/pagination";
import { tableHandler } from "portico/sql";
import { type TestClient, testClient } from "portico/testing";
import { createTable, type Engine, insertRows } from "../../../lab/servers/engines.ts";
import { range, SECRET } from "../../pagination/ways.ts";

interface AuthorRow {
  readonly id: number;
  readonly name: string;
  readonly country: string;
}
export interface BookRow {
  readonly id: number;
  readonly author_id: number;
  readonly title: string;
  readonly genre: string;
  readonly price_cents: number;
  readonly cost_cents: number | null;
  readonly seller_id: string;
  readonly notes: string | null;
}
interface Tables {
  readonly authors: AuthorRow;
  readonly books: BookRow;
}

export async function fillShop(engine: Engine): Promise<void> {
  await createTable(engine, "authors", { id: "key", name: "text", country: "text" });
  await createTable(
    engine,
    "books",
    {
      id: "key",
      author_id: "int",
      title: "text",
      genre: "text",
      price_cents: "int",
      cost_cents: "int?",
      seller_id: "text",
      notes: "text?",
    },
    ["author_id, price_cents, id"],
  );
  const authors = range(1, 5).map((id) => ({ id, name: `author ${id}`, country: id % 2 === 0 ? "de" : "fr" }));
  const books = range(1, 30).map((id) => ({
    id,
    author_id: 1 + (id % 5),
    title: `title ${id}`,
    genre: ["novel", "poetry", "science"][id % 3],
    price_cents: (id * 7) % 11,
    cost_cents: id % 4 === 0 ? null : id,
    seller_id: id === 7 ? "bob" : "ann",
    notes: id === 9 ? null : `notes ${id}`,
  }));
  await insertRows(engine, "authors", authors);
  await insertRows(engine, "books", books);
}

/** The same schema with and without `columns: "selected"`. Its fields read the row in all ways that there are. */
export function serveShop(
  database: Kysely<Tables>,
  columns: "selected" | undefined,
  options: GraphOptions & { readonly hooks?: readonly OperationHook[] } = {},
  copy: (built: GraphQLSchema) => GraphQLSchema = (built) => built,
): TestClient {
  const chosen = columns === undefined ? {} : { columns };
  const books = () => tableHandler(database.selectFrom("books").selectAll());
  const authors = () => tableHandler(database.selectFrom("authors").selectAll());
  const byPrice = new CursorPagination({
    order: [["price_cents", "desc"]],
    sortable: { price: "price_cents", title: "title" },
    filterable: { genre: { type: "text", by: ["equal"] } },
    defaultPageSize: 3,
  });
  const authorById = loader(async (ids: readonly number[]) => {
    const rows = await database.selectFrom("authors").selectAll().where("id", "in", ids).execute();
    return ids.map((id) => rows.find((row) => row.id === id) as AuthorRow);
  });
  const sold = rule<BookRow>({
    name: "sold",
    reads: ["seller_id"],
    allows: (user, { seller_id }) => seller_id === user.identity,
  });
  const readable = rule<BookRow>({
    name: "readable",
    reads: ["genre"],
    allows: (_user, { genre }) => genre !== "science",
    where: () => isIn("genre", ["novel", "poetry"]),
  });
  const Titled: InterfaceType<Pick<BookRow, "title" | "genre" | "seller_id">> = t.interface(
    "Titled",
    {
      title: t.string,
      shelf: field(t.string, { reads: ["genre"] })(({ parent }) => `shelf ${parent.genre}`),
      // Book redeclares it without its gate and without its columns.
      secret: field(t.string, {
        auth: (user, { parent }: Of<Pick<BookRow, "seller_id">>) => parent.seller_id === user.identity,
        reads: ["seller_id"],
      })(() => "a secret"),
    },
    { resolveType: () => "Book" },
  );
  const Book: ObjectType<BookRow> = object(
    "Book",
    {
      key: field(t.int, { reads: ["id"] })(({ parent }) => parent.id),
      price_cents: field(t.int, { name: "price" }),
      genre: field(t.string, { auth: true }),
      cost_cents: field(t.nullable(t.int), { name: "cost", auth: sold }),
      label: field(t.string, { reads: ["title", "price_cents"] })(
        ({ parent }) => `${parent.title}: ${parent.price_cents}`,
      ),
      seven: field(t.int)(() => 7),
      forgotten: field(t.nullable(t.string), { reads: ["title"] })(({ parent }) => (parent as BookRow).notes),
      all: field(t.string)(({ parent }) => JSON.stringify(Object.entries(parent).map(String).toSorted())),
      secret: field(t.string, { reads: ["notes"] })(({ parent }) => parent.notes ?? "none"),
      guarded: field(t.string, { auth: (_user, { parent }: Of<BookRow>) => parent.notes !== null })(() => "guarded"),
      author: field(() => Author, { reads: ["author_id"] })(({ ctx, parent }) =>
        authorById.load(ctx, parent.author_id),
      ),
      siblings: connection(() => Book, byPrice, { parent: { author_id: "author_id" }, ...chosen })(books),
      alone: connection(() => Book, byPrice, {
        ...chosen,
        reads: ["author_id"],
        cursorScope: ({ parent }: Of<BookRow>) => ({ author: parent.author_id }),
      })(({ parent }) =>
        tableHandler(database.selectFrom("books").selectAll().where("author_id", "=", parent.author_id)),
      ),
    },
    {
      auth: readable,
      implements: [Titled],
      node: { load: (keys) => database.selectFrom("books").selectAll().where("id", "in", keys.map(Number)).execute() },
    },
  );
  const Author: ObjectType<AuthorRow> = object("Author", {
    id: t.int,
    name: t.string,
    shout: field(t.string)(({ parent }) => `${parent.name} ${parent.country}`),
    books: connection(Book, byPrice, { parent: { author_id: "id" }, ...chosen })(books),
  });
  const query = {
    books: connection(Book, byPrice, chosen)(books),
    authors: connection(Author, new CursorPagination({ defaultPageSize: 4 }), chosen)(authors),
  };
  const app = new PorticoApp({ logger: false, cursorKeys: [SECRET] });
  const built = schema({ query });
  const { hooks = [], ...others } = options;
  const graph = new Graph(copy(built), {
    debug: true,
    limits: { cost: null, depth: null, directives: null, fields: null, aliases: null, breadth: null, tokens: null },
    ...others,
  });
  for (const hook of hooks) graph.onOperation(hook);
  graph.mount(app);
  return testClient(app).as(new SimpleUser("ann"));
}
