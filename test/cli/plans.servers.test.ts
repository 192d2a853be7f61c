import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { runPortico } from "./run-portico.ts";

const config = resolve(import.meta.dirname, "fixtures/plans.config.ts");
const plans = (indexes: string, ...more: readonly string[]) =>
  runPortico(["plans", "--config", config, ...more], { env: { PLANS_INDEXES: indexes } });

describe("portico plans", () => {
  it("names the lists, the missing indexes and the lists that it could not check, and ends with 1", async () => {
    const { code, out, err } = await plans("title,id");

    expect({ code, err }).toEqual({ code: 1, err: "" });
    expect(out).toMatchInlineSnapshot(`
      "GET /books: ok, 4 pages
      Author.books sorts the table books (first page, forward, ordered by title, id): CREATE INDEX "books_author_id_title_id" ON "books" ("author_id", "title", "id")
      GET /own: not checked (403 Permission denied)
      plans: 2 lists, 1 missing index, 1 not checked
      "
    `);
  });

  it("ends with 0 if an index serves every page", async () => {
    const { code, out } = await plans("title,id;author_id,title,id");

    expect(code).toBe(0);
    expect(out).toMatch(/^Author\.books: ok, 4 pages$/m);
    expect(out).toMatch(/^plans: 2 lists, 0 missing indexes, 1 not checked$/m);
  });

  it("prints the same as JSON", async () => {
    const { code, out } = await plans("", "--json");

    expect(code).toBe(1);
    expect(JSON.parse(out)).toEqual({
      lists: [
        { place: "GET /books", pages: 4, gaps: [], faults: [expect.objectContaining({ order: "title, id" })] },
        {
          place: "Author.books",
          pages: 4,
          gaps: [],
          faults: [
            {
              order: "title, id",
              page: "first page, forward",
              problem: "sorts the table books",
              index: 'CREATE INDEX "books_author_id_title_id" ON "books" ("author_id", "title", "id")',
              sql: expect.stringContaining("select"),
            },
          ],
        },
      ],
      unchecked: [{ place: "GET /own", reason: expect.stringMatching(/^403 /) }],
    });
  });

  it("refuses to act as a user in production", async () => {
    const { code, err } = await runPortico(["plans", "--config", config], { env: { NODE_ENV: "production" } });

    expect(code).toBe(1);
    expect(err).toContain("NODE_ENV must not be production");
  });

  it("fails for a list that it could not check, with --check", async () => {
    const { code, out } = await plans("title,id;author_id,title,id", "--check");

    expect(out).toMatch(/^plans: 2 lists, 0 missing indexes, 1 not checked$/m);
    expect(code).toBe(1);
  });

  describe("over an adopted schema", () => {
    const adopted = resolve(import.meta.dirname, "fixtures/adopted.config.ts");
    const plansOf = (fields: string, ...more: readonly string[]) =>
      runPortico(["plans", "--config", adopted, ...more], { env: { ADOPTED_FIELDS: fields } });

    it("explains the lists of connectionResolver, also behind a wrapped resolver, and names those that it can't see", async () => {
      const { code, out } = await plansOf("feed,wrapped,foreign,memory,rest");

      expect(code).toBe(1);
      expect(out).toMatchInlineSnapshot(`
        "Query.feed sorts the table posts (first page, forward, ordered by title, id): CREATE INDEX "posts_title_id" ON "posts" ("title", "id")
        Query.wrapped sorts the table posts (first page, forward, ordered by title, id): CREATE INDEX "posts_title_id" ON "posts" ("title", "id")
        Query.memory: not checked (its items are a list in memory, and the statement that loaded them is unknown)
        Query.rest: not checked (Rest sends its own statements, which can't be explained)
        Query.foreign: not checked (there is no data on the way, or its resolver is not a connection or connectionResolver of Portico)
        plans: 2 lists, 2 missing indexes, 3 not checked
        "
      `);
    });

    it.each(["foreign", "memory", "rest", ""])(
      "fails with --check if it sees nothing of a list: %s",
      async (fields) => {
        const { code, out } = await plansOf(fields, "--check");

        expect(out).toMatch(/not checked \(/);
        expect(out).toMatch(/^plans: 0 lists, 0 missing indexes, 1 not checked$/m);
        expect(code).toBe(1);
      },
    );
  });
});
