import { type ChildProcess, fork } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import type { Kysely } from "kysely";
import {
  connection,
  field,
  Graph,
  loader,
  type ObjectType,
  type Of,
  object,
  schema,
  t,
} from "../../src/graphql/index.ts";
import { PorticoApp } from "../../src/index.ts";
import { CursorPagination } from "../../src/pagination/index.ts";
import { tableHandler } from "../../src/sql/index.ts";
import { type TestClient, testClient } from "../../src/testing/index.ts";
import { createTable, type Engine, type EngineName, engineNames, insertRows, openEngine } from "../servers/engines.ts";

interface AuthorRow {
  readonly id: number;
}
interface BookRow {
  readonly id: number;
  readonly author_id: number;
  readonly rank: number;
}
interface ReviewRow {
  readonly id: number;
  readonly book_id: number;
  readonly stars: number;
}
interface Tables {
  readonly authors: AuthorRow;
  readonly books: BookRow;
  readonly reviews: ReviewRow;
}

const isShort = process.argv.includes("--short");
const AUTHORS = 100;
/** The books of an author, and the reviews of a book. A page has five of them. */
const CHILDREN = isShort ? 20 : 50;
const ROUNDS = isShort ? 5 : 20;
const WARM_UP = 3;
/** It has its own packages, so that there is one copy of graphql in this process. */
const PEER = "peers/pothos.js";

const byRank = new CursorPagination({ order: [["rank", "desc"]], defaultPageSize: 5 });
const byStars = new CursorPagination({ order: [["stars", "desc"]], defaultPageSize: 5 });
const byId = new CursorPagination({ defaultPageSize: AUTHORS });

/** One way to read the books of 100 authors and the reviews of 500 books. */
interface Way {
  readonly name: string;
  readonly query: string;
  readonly ask: Ask;
  readonly wall: number[];
  readonly cpu: number[];
  statements: number;
}

/**
 * 100 authors, five books of each, five reviews of each book: with nested connections, with a connection for each
 * parent, and with a DataLoader that reads all children and cuts the page in JavaScript. On PostgreSQL also with Pothos
 * and Drizzle behind Yoga, from `lab/bench/peers`, in its own process. Every round runs every way. CPU is that of the process
 * that responds, which is the whole cost on SQLite.
 */
export async function run(): Promise<void> {
  for (const name of engineNames) await measure(name);
}

async function measure(name: EngineName): Promise<void> {
  const engine = await openEngine(name, `portico_nested_bench_${randomUUID().slice(0, 8)}`);
  const peer = name === "PostgreSQL" ? openPeer(engine.address) : null;
  try {
    await fill(engine);
    const ask = askPortico(serve(engine.database), engine);
    const pages = "nodes { id } pageInfo { hasNextPage endCursor }";
    const nested = (books: string, reviews: string): string =>
      `{ authors { nodes { id ${books} { nodes { id ${reviews} { ${pages} } } pageInfo { hasNextPage endCursor } } } } }`;
    const wayOf = (way: string, query: string, by: Ask = ask): Way => {
      return { name: way, query, ask: by, wall: [], cpu: [], statements: 0 };
    };
    const ways: readonly Way[] = [
      wayOf("nested", nested("books", "reviews")),
      wayOf("per parent", nested("booksAlone", "reviewsAlone")),
      wayOf("loader", "{ authors { nodes { id loadedBooks { id loadedReviews { id } } } } }"),
      ...(peer === null ? [] : [wayOf("Pothos", nested("books", "reviews"), peer.ask)]),
    ];
    if (peer !== null) await compare(ways[0] as Way, ways.at(-1) as Way);
    for (let round = 0; round < WARM_UP + ROUNDS; round++)
      for (const way of ways) await measureOnce(way, round >= WARM_UP);
    const [first] = ways;
    console.log(`\n${name}: ${AUTHORS} authors, ${CHILDREN} books each, ${CHILDREN} reviews each`);
    for (const { name: way, wall, cpu, statements } of ways)
      console.log(
        `  ${way.padEnd(11)} ${String(statements).padStart(4)} statements  ${median(wall).toFixed(1).padStart(7)} ms  ${median(cpu).toFixed(1).padStart(7)} ms CPU  x ${(median(wall) / median(first?.wall ?? [])).toFixed(2)} time, x ${(median(cpu) / median(first?.cpu ?? [])).toFixed(2)} CPU`,
      );
  } finally {
    peer?.close();
    await engine.close();
  }
}

/** A response, the number of statements, and what it cost: time and CPU in milliseconds. */
interface Asked {
  readonly result: { readonly data?: unknown; readonly errors?: unknown };
  readonly statements: number;
  readonly wall: number;
  readonly cpu: number;
}
type Ask = (query: string) => Promise<Asked>;

function askPortico(client: TestClient, engine: Engine): Ask {
  return async (query) => {
    engine.statements.length = 0;
    const before = process.cpuUsage();
    const start = performance.now();
    const response = await client.post("/graphql", { body: { query } });
    const result = response.json() as Asked["result"];
    const wall = performance.now() - start;
    const { user, system } = process.cpuUsage(before);
    return { result, statements: engine.statements.length, wall, cpu: (user + system) / 1_000 };
  };
}

/** Pothos and Drizzle, if `npm ci --prefix lab/bench/peers` has installed them. */
function openPeer(schema: string): { readonly ask: Ask; close(): void } | null {
  if (!existsSync(new URL("peers/node_modules/@pothos", import.meta.url))) {
    console.log("without Pothos and Drizzle: run npm ci --prefix lab/bench/peers");
    return null;
  }
  const connection = { host: "127.0.0.1", user: "postgres", database: "test", max: 4 };
  const options = {
    connection: { ...connection, options: `-c search_path=${schema}` },
    sizes: { page: 5, authors: AUTHORS },
  };
  const child = fork(new URL(PEER, import.meta.url), [JSON.stringify(options)], {
    serialization: "advanced",
  });
  const end = failed(child);
  end.catch(() => undefined);
  return {
    async ask(query) {
      child.send({ query });
      const [asked] = (await Promise.race([once(child, "message"), end])) as [Asked];
      return asked;
    },
    close: () => child.disconnect(),
  };
}

async function failed(child: ChildProcess): Promise<never> {
  const [code] = (await once(child, "exit")) as [number | null];
  throw new Error(`${PEER} ended with ${code}`);
}

/** Both have to return the same rows. Their cursors differ. */
async function compare(one: Way, other: Way): Promise<void> {
  const [left, right] = await Promise.all(
    [one, other].map(async ({ ask, query }) => {
      const { result } = await ask(query.replaceAll(" endCursor", ""));
      return JSON.stringify(result);
    }),
  );
  if (left !== right) throw new Error(`${other.name} returns other rows: ${right?.slice(0, 500)}`);
}

async function measureOnce(way: Way, isCounted: boolean): Promise<void> {
  const { result, statements, wall, cpu } = await way.ask(way.query);
  if (result.errors !== undefined) throw new Error(JSON.stringify(result.errors));
  way.statements = statements;
  if (!isCounted) return;
  way.wall.push(wall);
  way.cpu.push(cpu);
}

async function fill(engine: Engine): Promise<void> {
  await createTable(engine, "authors", { id: "key" });
  await createTable(engine, "books", { id: "key", author_id: "int", rank: "int" }, ["author_id, rank, id"]);
  await createTable(engine, "reviews", { id: "key", book_id: "int", stars: "int" }, ["book_id, stars, id"]);
  await insertRows(
    engine,
    "authors",
    numbers(AUTHORS).map((id) => ({ id })),
  );
  const books = AUTHORS * CHILDREN;
  await insertRows(
    engine,
    "books",
    numbers(books).map((id) => ({ id, author_id: id % AUTHORS, rank: (id * 7) % 13 })),
  );
  await insertRows(
    engine,
    "reviews",
    numbers(books * CHILDREN).map((id) => ({ id, book_id: id % books, stars: (id * 7) % 5 })),
  );
}

function numbers(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => index);
}

function serve(database: Kysely<Tables>): TestClient {
  const books = () => tableHandler(database.selectFrom("books").selectAll());
  const reviews = () => tableHandler(database.selectFrom("reviews").selectAll());
  const allBooks = loader(async (ids: readonly number[]) => {
    const rows = await database.selectFrom("books").selectAll().where("author_id", "in", ids).execute();
    return firstFive(ids, rows, "author_id", (a, b) => b.rank - a.rank || b.id - a.id);
  });
  const allReviews = loader(async (ids: readonly number[]) => {
    const rows = await database.selectFrom("reviews").selectAll().where("book_id", "in", ids).execute();
    return firstFive(ids, rows, "book_id", (a, b) => b.stars - a.stars || b.id - a.id);
  });
  const Review: ObjectType<ReviewRow> = object("Review", { id: t.int });
  const Book: ObjectType<BookRow> = object("Book", {
    id: t.int,
    reviews: connection(Review, byStars, { parent: { book_id: "id" } })(reviews),
    reviewsAlone: connection(Review, byStars, { cursorScope: ({ parent }: Of<BookRow>) => ({ book_id: parent.id }) })(
      ({ parent }) => tableHandler(database.selectFrom("reviews").selectAll().where("book_id", "=", parent.id)),
    ),
    loadedReviews: field(t.list(Review))(({ ctx, parent }) => allReviews.load(ctx, parent.id)),
  });
  const Author: ObjectType<AuthorRow> = object("Author", {
    id: t.int,
    books: connection(Book, byRank, { parent: { author_id: "id" } })(books),
    booksAlone: connection(Book, byRank, { cursorScope: ({ parent }: Of<AuthorRow>) => ({ author_id: parent.id }) })(
      ({ parent }) => tableHandler(database.selectFrom("books").selectAll().where("author_id", "=", parent.id)),
    ),
    loadedBooks: field(t.list(Book))(({ ctx, parent }) => allBooks.load(ctx, parent.id)),
  });
  const query = {
    authors: connection(Author, byId)(() => tableHandler(database.selectFrom("authors").selectAll())),
  };
  const app = new PorticoApp({ logger: false, cursorKeys: ["a secret of at least thirty-two bytes"] });
  new Graph(schema({ query }), { limits: { cost: null } }).mount(app);
  return testClient(app);
}

function firstFive<T, C extends keyof T>(
  ids: readonly T[C][],
  rows: readonly T[],
  column: C,
  compare: (a: T, b: T) => number,
): readonly (readonly T[])[] {
  const byParent = Map.groupBy(rows, (row) => row[column]);
  return ids.map((id) => (byParent.get(id) ?? []).toSorted(compare).slice(0, 5));
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
