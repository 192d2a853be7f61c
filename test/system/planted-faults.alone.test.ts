import { randomUUID } from "node:crypto";
import { cp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expectFlat, expectPlans, type StatementWatch, type TestClient, watchStatements } from "portico/testing";
import { afterAll, beforeAll, expect, it } from "vitest";

// Two changes that are not noticeable with 120 books. `examples/bookshop/test/plans.servers.test.ts` checks the shop without them.
const root = join(import.meta.dirname, "../..");
const folder = join(root, ".cache", `planted-${randomUUID().slice(0, 8)}`);
/** The shop's modules are not imported for their types, because they register the shop's class of users. */
interface OpenShop {
  readonly openShop: (size: object) => Promise<{ readonly client: TestClient }>;
}
let client: TestClient;
let watch: StatementWatch;

beforeAll(async () => {
  await cp(join(root, "examples/bookshop"), folder, {
    recursive: true,
    filter: (source) => !source.includes("node_modules"),
  });
  await change("src/authors/author-type.ts", /parent: \{ author_id: "id" \},([^]*?)\}\)\(ownBooks\)/, (_all, rest) => {
    const source =
      'tableHandler(database.current().selectFrom("books").selectAll().where("author_id", "=", parent.id))';
    return `cursorScope: ({ parent }: { parent: AuthorRow }) => ({ author: parent.id }), ${rest} })(({ parent }) => ${source})`;
  });
  await change("src/authors/author-type.ts", /^/, () =>
    ['import { tableHandler } from "portico/sql";', 'import { database } from "../database.ts";', ""].join("\n"),
  );
  await change("src/migrations/0001-books-and-authors.ts", /.*create index books_by_title on.*\n/, () => "");
  const { openShop } = (await import(join(folder, "test/open-shop.ts"))) as OpenShop;
  client = (await openShop({ books: 60, users: 4 })).client;
  const { database } = (await import(join(folder, "src/database.ts"))) as {
    database: Parameters<typeof watchStatements>[0];
  };
  watch = watchStatements(database);
});
afterAll(async () => {
  watch?.stop();
  await rm(folder, { recursive: true, force: true });
});

async function change(file: string, pattern: RegExp, replacement: (...parts: string[]) => string): Promise<void> {
  const text = await readFile(join(folder, file), "utf8");
  expect(text).toMatch(pattern);
  await writeFile(join(folder, file), text.replace(pattern, replacement));
}

it("a planted N+1 in a copy of the bookshop is found by its field, with the fix", async () => {
  const document =
    "query ($first: Int!) { books(first: $first) { nodes { author { books(first: 2) { nodes { id } } } } } }";

  await expect(expectFlat(watch, (first) => client.graphql(document, { first }))).rejects.toThrow(
    'Author.books issues one statement per parent: declare `parent: { author_id: "id" }` on the connection, or use a loader',
  );
});

it("a planted missing index in a copy of the bookshop is found by its route and field, with the index", async () => {
  watch.reset();
  await client.get("/books");
  await client.get("/books/newest");
  await client.graphql("{ books { nodes { author { books { nodes { id } } } } } }");
  const failure = await expectPlans(watch).catch((error: Error) => error.message);

  const lines = String(failure)
    .split("\n")
    .filter((line) => !line.startsWith("  "));
  const index = 'CREATE INDEX ON "books" ("title", "id")';
  expect(lines).toEqual([
    `GET /books sorts the table books (first page, ordered by title, id): ${index}`,
    `GET /books/newest sorts the table books (first page, forward, ordered by title, id): ${index}`,
    `Query.books sorts the table books (first page, forward, ordered by title, id): ${index}`,
  ]);
});
