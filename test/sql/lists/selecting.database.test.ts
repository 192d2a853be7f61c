import { randomUUID } from "node:crypto";
import { CamelCasePlugin, type SelectQueryBuilder, sql } from "kysely";
import { tableHandler } from "portico/sql";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createTable, type Engine, engineNames, insertRows, openEngine } from "../../../lab/servers/engines.ts";

type AnyQuery = SelectQueryBuilder<any, any, any>;

describe.each(engineNames)("selecting columns of a table handler on %s", (name) => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await openEngine(name, `portico_selecting_${randomUUID().slice(0, 8)}`);
    await createTable(engine, "authors", { id: "key", name: "text", born: "int?" });
    await createTable(engine, "books", { id: "key", author_id: "int", title: "text", price_cents: "int?" });
    await insertRows(engine, "authors", [{ id: 1, name: "Austen", born: 1775 }]);
    await insertRows(engine, "books", [
      { id: 1, author_id: 1, title: "Emma", price_cents: 900 },
      { id: 2, author_id: 1, title: "Persuasion", price_cents: null },
    ]);
  });
  afterAll(() => engine?.close());
  beforeEach(() => void (engine.statements.length = 0));

  /** The rows, and the text of the statement that read them. */
  const read = async (query: AnyQuery, columns: readonly string[]): Promise<readonly [object[], string]> => {
    const handler = tableHandler(query).selecting(columns);
    const rows = await handler.getItemsAfter({ order: [["id", "asc"]], key: null, direction: "forward" }, 10);
    const text = engine.statements.at(-1)?.sql.replaceAll(/["`]/g, "") ?? "";
    return [rows.map((row) => ({ ...row })), text.slice("select ".length, text.indexOf("~k")).trim()];
  };
  const books = (): AnyQuery => engine.database.selectFrom("books");
  const joined = (): AnyQuery => books().innerJoin("authors", "authors.id", "books.author_id");

  it("leaves out columns of one table among several", async () => {
    const [rows, text] = await read(joined().selectAll("books").select("authors.name as author"), ["title"]);
    expect(rows).toEqual([{ title: "Emma" }, { title: "Persuasion" }]);
    expect(text).not.toMatch(/price_cents|author_id,|name as author/);
  });

  it("keeps the row that a later table overwrites", async () => {
    const query = joined().selectAll("books").selectAll("authors");
    expect((await read(query, ["id", "title"]))[0]).toEqual([
      { id: 1, title: "Emma" },
      { id: 1, title: "Persuasion" },
    ]);
  });

  it("keeps an expression that may decide about the rows or has parameters", async () => {
    const query = books().select(["id", "title"]).select(sql<string>`coalesce(${"x"}, 'y')`.as("computed"));
    const [rows, text] = await read(query, ["id"]);
    expect(rows).toEqual([
      { id: 1, computed: "x" },
      { id: 2, computed: "x" },
    ]);
    expect(text).not.toContain("title");
  });

  it("leaves out a subquery without parameters, and reads it if it is selected", async () => {
    const query = books()
      .selectAll()
      .select((eb) =>
        eb.selectFrom("authors").select("name").whereRef("authors.id", "=", "books.author_id").as("author"),
      );
    expect((await read(query, ["id"]))[1]).not.toContain("authors");
    expect((await read(query, ["id", "author"]))[0]).toEqual([
      { id: 1, author: "Austen" },
      { id: 2, author: "Austen" },
    ]);
  });

  it("reads all columns if one of them is not among those of the query", async () => {
    expect((await read(books().selectAll(), ["title", "subtitle"]))[0]).toEqual([
      { id: 1, author_id: 1, title: "Emma", price_cents: 900 },
      { id: 2, author_id: 1, title: "Persuasion", price_cents: null },
    ]);
    const [rows] = await read(joined().selectAll(), ["title"]);
    expect(rows[0]).toHaveProperty("born", 1775);
  });

  it("selects the fields of a table of WITH, which hides the one in the catalogue", async () => {
    const query = engine.database
      .with("books", (db) => db.selectFrom("authors").select(["id", "name as title", "born"]))
      .selectFrom("books")
      .selectAll() as AnyQuery;
    expect((await read(query, ["title"]))[0]).toEqual([{ title: "Austen" }]);
  });

  it("reads all columns of a table of WITH that does not name them", async () => {
    const query = engine.database
      .with("books", (db) => db.selectFrom("authors").selectAll())
      .selectFrom("books")
      .selectAll() as AnyQuery;
    expect((await read(query, ["name"]))[0]).toEqual([{ id: 1, name: "Austen", born: 1775 }]);
  });

  it("selects the fields of a subquery", async () => {
    const inner = engine.database.selectFrom("books").select(["id", "title", "price_cents"]);
    const [rows, text] = await read(engine.database.selectFrom(inner.as("b")).selectAll(), ["title"]);
    expect(rows).toEqual([{ title: "Emma" }, { title: "Persuasion" }]);
    expect(text).toMatch(/^b\.title/);
  });

  it("finds the columns that a plugin renames", async () => {
    const query = engine.database.withPlugin(new CamelCasePlugin()).selectFrom("books").selectAll() as AnyQuery;
    const [rows, text] = await read(query, ["id", "priceCents"]);
    expect(rows).toEqual([
      { id: 1, priceCents: 900 },
      { id: 2, priceCents: null },
    ]);
    expect(text).not.toContain("title");
  });

  it("throws if a column is read that was left out", async () => {
    const handler = tableHandler(books().selectAll()).selecting(["title"]);
    const [row] = await handler.getItemsAfter({ order: [["id", "asc"]], key: null, direction: "forward" }, 1);
    expect(() => (row as { price_cents: unknown }).price_cents).toThrow("the column price_cents was not read");
    expect(row).toEqual({ title: "Emma" });
  });

  it("applies to lists of many values, and to the list after a condition", async () => {
    const among = tableHandler(books().selectAll(), { among: { author_id: [1] } }).selecting(["title"]);
    const rows = await among.getItemsAfter({ order: [["id", "asc"]], key: null, direction: "forward" }, 10);
    expect(rows.map((row) => ({ ...row }))).toEqual([{ title: "Emma" }, { title: "Persuasion" }]);
    expect(await among.getTotalItems()).toBe(2);
  });
});
