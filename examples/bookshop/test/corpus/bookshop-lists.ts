import { sql } from "kysely";
import { Client } from "pg";
import { expect, vi } from "vitest";
import type { PagedShop } from "../../../../test/system/corpus/paged-shop.ts";
import { as, ask, post, send } from "./the-shop.ts";

const database = async () => (await import("../../src/database.ts")).database.asSystem("a test");

/** The lists of the bookshop. */
export const bookshopLists: PagedShop = {
  send,
  ask,
  as,
  async order(reader, ...books) {
    for (const book of books)
      expect((await post("/orders", { books: [{ book }] }, [await as(reader)])).status).toBe(201);
  },
  async add(id, isbn, addedAt) {
    await sql`insert into books (id, isbn, title, genre, author_id, price_cents, cost_cents, added_at)
      values (${id}, ${isbn}, 'A New One', 'novel', 'author-1', 1, 1, ${addedAt}::timestamptz)`.execute(
      await database(),
    );
  },
  async move(id, addedAt) {
    await sql`update books set added_at = ${addedAt}::timestamptz where id = ${id}`.execute(await database());
  },
  async remove(ids) {
    await sql`delete from books where genre = 'novel' and id in (${sql.join(ids)})`.execute(await database());
  },
  async countFineTimes() {
    const fine = sql<{ odd: number }>`select count(*)::int as odd from books
      where extract(microseconds from added_at)::int % 1000 <> 0`;
    return (await fine.execute(await database())).rows[0]?.odd ?? 0;
  },
  async statements(run) {
    const query = vi.spyOn(Client.prototype, "query");
    try {
      await run();
      return query.mock.calls.map(([statement]) => JSON.stringify(statement)).filter((text) => text.includes("books"));
    } finally {
      query.mockRestore();
    }
  },
};
