import { sql } from "kysely";
import { PorticoApp } from "portico";
import { connection, Graph, type ObjectType, object, schema, t } from "portico/graphql";
import { CursorPagination, LimitOffsetPagination, PageNumberPagination } from "portico/pagination";
import type { TableHandler } from "portico/sql";
import { liveClient } from "portico/testing";
import { type ColumnType, createTable, type Engine, insertRows } from "../../../lab/servers/engines.ts";
import { SECRET } from "../../pagination/ways.ts";
import { type Header, JSON_TYPE, sendTo } from "./answer.ts";
import type { PagedShop } from "./paged-shop.ts";
import { keyColumns, keyRows, unnamedColumns } from "./pagination-options.ts";

interface BookRow {
  readonly id: string;
  readonly title: string;
  readonly genre: string;
  readonly added_at: string | Date;
}
interface OrderRow {
  readonly id: string;
  readonly at: string | Date;
}

/** Lists through any builder of queries. */
export interface ListSource {
  readonly list: (table: string, options?: ListOptions) => TableHandler<any>;
  /** The statements that were sent for them, in order. */
  readonly statements: readonly { readonly sql: string }[];
}
interface ListOptions {
  readonly orderBy?: string;
  readonly where?: readonly [column: string, value: string];
  readonly maxOffset?: number;
}

/** The columns of each table. */
export const shopTables: Readonly<Record<string, Readonly<Record<string, ColumnType>>>> = {
  books: { id: "text", title: "text", genre: "text", added_at: "time" },
  orders: { id: "text", reader: "text", at: "time" },
  exact_keys: keyColumns,
  unnamed: unnamedColumns,
};
const indexes: Readonly<Record<string, readonly string[]>> = {
  books: ["added_at, id", "genre, added_at, id", "title, id"],
  orders: ["reader, at, id"],
};

const GENRES = ["novel", "poetry", "science", "children", "history"] as const;
const filterable = { genre: { type: GENRES, by: ["equal"], public: true } } as const;
const [byPage, byOffset] = [new PageNumberPagination({ filterable }), new LimitOffsetPagination({ maxLimit: 200 })];
const [newestFirst, latestFirst] = [
  new CursorPagination({
    order: [
      ["added_at", "desc"],
      ["id", "desc"],
    ],
    filterable,
    maxPageSize: 100,
  }),
  new CursorPagination({
    order: [
      ["at", "desc"],
      ["id", "desc"],
    ],
  }),
];

/** Creates the tables: 100 books of four genres, in microseconds; all children's books were added at the same time. */
export async function createShopTables(engine: Engine): Promise<void> {
  for (const [table, columns] of Object.entries(shopTables)) await createTable(engine, table, columns, indexes[table]);
  const books = Array.from({ length: 100 }, (_, index) => {
    const genre = GENRES[index % 4] ?? "novel";
    const fine = `2024-03-01 10:00:00.${String(100_000 + Math.floor(index / 8))}`;
    const added_at = at(engine, genre === "children" ? "2020-01-01 00:00:00" : fine);
    return { id: `book-${index}`, title: `Title ${(index * 37) % 100}`, genre, added_at };
  });
  await insertRows(engine, "books", books);
  await insertRows(engine, "exact_keys", keyRows);
}

const at = ({ name }: Engine, time: string): string => (name === "PostgreSQL" ? `${time}+00` : time);

/** Serves the lists of these tables as the bookshop does. */
export async function pagedTables(engine: Engine, source: ListSource): Promise<PagedShop & { close(): Promise<void> }> {
  const app = new PorticoApp({ logger: false, cursorKeys: [SECRET], publicUrl: "http://shop.example" });
  const Book: ObjectType<BookRow> = object("Book", { id: t.string });
  const Order: ObjectType<OrderRow> = object("Order", { id: t.string });
  const readerOf = (headers: Readonly<Record<string, string | undefined>>): string => headers["x-reader"] ?? "";
  const books = (): TableHandler<BookRow> => source.list("books");
  const ordersOf = (reader: string): TableHandler<OrderRow> => source.list("orders", { where: ["reader", reader] });
  app.get("/books", ({ response }) =>
    response.apaginate(source.list("books", { orderBy: "title" }), { strategy: byPage }),
  );
  app.get("/books/stock", ({ response }) =>
    response.apaginate(source.list("books", { orderBy: "title" }), { strategy: byOffset }),
  );
  app.get("/books/newest", ({ response }) => response.apaginate(books(), { strategy: newestFirst }));
  app.get("/orders", ({ request, response }) => {
    const reader = readerOf(request.headers);
    return response.apaginate(ordersOf(reader), { strategy: latestFirst, cursorScope: { reader } });
  });
  const query = {
    books: connection(Book, newestFirst)(() => books()),
    myOrders: connection(Order, latestFirst)(({ ctx }) => ordersOf(readerOf(ctx.request.headers))),
  };
  new Graph(schema({ query })).mount(app);
  const client = await liveClient(app);

  const { database } = engine;
  const sendHere: PagedShop["send"] = (path, request) => sendTo(client.port, path, request);
  return {
    send: sendHere,
    ask: (document, variables, headers = []) =>
      sendHere("/graphql", {
        method: "POST",
        headers: [JSON_TYPE, ...headers],
        body: JSON.stringify({ query: document, variables }),
      }),
    as: async (name): Promise<Header> => ["x-reader", name],
    order: (reader, ...books) =>
      insertRows(
        engine,
        "orders",
        books.map((book) => ({ id: `order-${book}`, reader, at: at(engine, "2024-03-01 10:00:00") })),
      ),
    add: (id, isbn, addedAt) =>
      insertRows(engine, "books", [{ id, title: `Title ${isbn}`, genre: "novel", added_at: at(engine, addedAt) }]),
    async move(id, addedAt) {
      await database
        .updateTable("books")
        .set({ added_at: at(engine, addedAt) })
        .where("id", "=", id)
        .execute();
    },
    async remove(ids) {
      await database.deleteFrom("books").where("id", "in", ids).execute();
    },
    countFineTimes: async () => {
      const rows = await database
        .selectFrom("books")
        .select(sql<string>`cast(added_at as char(40))`.as("at"))
        .execute();
      return rows.filter(({ at: time }) => /\.\d{3}(?!000)\d{3}/.test(time)).length;
    },
    async statements(run) {
      const before = source.statements.length;
      await run();
      return source.statements.slice(before).map(({ sql }) => sql);
    },
    close: () => client.close(),
  };
}
