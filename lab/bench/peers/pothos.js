import SchemaBuilder from "@pothos/core";
import DrizzlePlugin from "@pothos/plugin-drizzle";
import RelayPlugin from "@pothos/plugin-relay";
import { defineRelations } from "drizzle-orm";
import { drizzle } from "drizzle-orm/node-postgres";
import { getTableConfig, integer, pgTable } from "drizzle-orm/pg-core";
import { createYoga } from "graphql-yoga";
import { Pool } from "pg";

// The authors, books and reviews of npm run bench -- nested with Pothos and Drizzle behind Yoga. A process of its own, because it
// has its own copy of graphql. Receives { query }, and sends the response, the number of statements, and what they cost.
const { connection, sizes } = JSON.parse(process.argv[2]);
const authors = pgTable("authors", { id: integer("id").primaryKey() });
const books = pgTable("books", {
  id: integer("id").primaryKey(),
  authorId: integer("author_id").notNull(),
  rank: integer("rank").notNull(),
});
const reviews = pgTable("reviews", {
  id: integer("id").primaryKey(),
  bookId: integer("book_id").notNull(),
  stars: integer("stars").notNull(),
});
const relations = defineRelations({ authors, books, reviews }, (r) => ({
  authors: { books: r.many.books({ from: r.authors.id, to: r.books.authorId }) },
  books: { reviews: r.many.reviews({ from: r.books.id, to: r.reviews.bookId }) },
}));

function schemaOf(database) {
  const builder = new SchemaBuilder({
    plugins: [RelayPlugin, DrizzlePlugin],
    relay: { nodesOnConnection: true },
    drizzle: { client: database, getTableConfig, relations },
  });
  builder.drizzleObject("reviews", { name: "Review", fields: (t) => ({ id: t.exposeInt("id") }) });
  builder.drizzleObject("books", {
    name: "Book",
    fields: (t) => ({
      id: t.exposeInt("id"),
      reviews: t.relatedConnection("reviews", {
        defaultSize: sizes.page,
        query: { orderBy: { stars: "desc", id: "desc" } },
      }),
    }),
  });
  builder.drizzleObject("authors", {
    name: "Author",
    fields: (t) => ({
      id: t.exposeInt("id"),
      books: t.relatedConnection("books", {
        defaultSize: sizes.page,
        query: { orderBy: { rank: "desc", id: "desc" } },
      }),
    }),
  });
  builder.queryType({
    fields: (t) => ({
      authors: t.drizzleConnection({
        type: "authors",
        defaultSize: sizes.authors,
        resolve: (query) => database.query.authors.findMany(query({ orderBy: { id: "asc" } })),
      }),
    }),
  });
  return builder.toSchema();
}

const pool = new Pool(connection);
let statements = 0;
const database = drizzle({ client: pool, relations, logger: { logQuery: () => void statements++ } });
const yoga = createYoga({ schema: schemaOf(database), logging: false, graphiql: false });

async function ask(query) {
  statements = 0;
  const cpu = process.cpuUsage();
  const start = performance.now();
  const response = await yoga.fetch("http://localhost/graphql", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ query }),
  });
  const result = await response.json();
  const wall = performance.now() - start;
  const { user, system } = process.cpuUsage(cpu);
  return { result, statements, wall, cpu: (user + system) / 1_000 };
}

process.on("message", ({ query }) => void ask(query).then((asked) => process.send(asked)));
process.on("disconnect", () => void pool.end());
