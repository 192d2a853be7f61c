import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { runPortico } from "./run-portico.ts";

const config = resolve(import.meta.dirname, "fixtures/plans.config.ts");
const plans = (indexes: string, ...more: readonly string[]) =>
  runPortico(["plans", "--config", config, ...more], { env: { PLANS_INDEXES: indexes } });

describe("portico plans", () => {
  it("names the lists, the missing indexes and the lists that it could not reach, and ends with 1", async () => {
    const { code, out, err } = await plans("title,id");

    expect({ code, err }).toEqual({ code: 1, err: "" });
    expect(out).toMatchInlineSnapshot(`
      "GET /books: ok, 4 pages
      Author.books sorts the table books (first page, forward, ordered by title, id): CREATE INDEX books_author_id_title_id ON books (author_id, title, id)
      GET /own: not reached (403 Permission denied)
      plans: 2 lists, 1 missing index, 1 not reached
      "
    `);
  });

  it("ends with 0 if an index serves every page", async () => {
    const { code, out } = await plans("title,id;author_id,title,id");

    expect(code).toBe(0);
    expect(out).toMatch(/^Author\.books: ok, 4 pages$/m);
    expect(out).toMatch(/^plans: 2 lists, 0 missing indexes, 1 not reached$/m);
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
              index: "CREATE INDEX books_author_id_title_id ON books (author_id, title, id)",
              sql: expect.stringContaining("select"),
            },
          ],
        },
      ],
      unreached: [{ place: "GET /own", reason: expect.stringMatching(/^403 /) }],
    });
  });

  it("refuses to act as a user in production", async () => {
    const { code, err } = await runPortico(["plans", "--config", config], { env: { NODE_ENV: "production" } });

    expect(code).toBe(1);
    expect(err).toContain("NODE_ENV must not be production");
  });
});
