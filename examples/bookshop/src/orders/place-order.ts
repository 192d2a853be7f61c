import { BadRequest, type BaseContext, Conflict, type CurrentUser, NotFound } from "portico";
import type { Transaction } from "portico/sql";
import { stockOf } from "../books/stock-news.ts";
import type { Tables } from "../tables.ts";
import { orderPlaced } from "./order-news.ts";
import type { OrderRow } from "./order-table.ts";

export interface OrderedBook {
  readonly book: string;
  readonly copies: number;
}
/** Who orders, and where the news goes. */
type Ordering = BaseContext<CurrentUser>;

/** Takes the copies from the shelf and writes the order down: all of it, or nothing. */
export async function placeOrder(
  trx: Transaction<Tables>,
  ctx: Ordering,
  ordered: readonly OrderedBook[],
): Promise<OrderRow> {
  const taken = [];
  for (const line of linesOf(ordered)) taken.push(await takeFromShelf(trx, ctx, line));

  const order = await trx
    .insertInto("orders")
    .values({
      buyer_id: ctx.user.id,
      total_cents: taken.reduce((sum, { copies, price_cents }) => sum + copies * price_cents, 0),
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  await trx
    .insertInto("order_lines")
    .values(taken.map((line) => ({ order_id: order.id, ...line })))
    .execute();
  await ctx.pubsub.publish(orderPlaced, { id: order.id });
  return order;
}

/** One line for each book, always in the same order: two orders of the same two books would else wait for each other. */
function linesOf(ordered: readonly OrderedBook[]): readonly OrderedBook[] {
  if (ordered.some(({ copies }) => copies < 1) || ordered.length === 0)
    throw new BadRequest("An order has at least one copy of a book", { code: "NOTHING_ORDERED" });
  const copies = new Map<string, number>();
  for (const line of ordered) copies.set(line.book, (copies.get(line.book) ?? 0) + line.copies);
  if (copies.size > MOST_BOOKS || copies.values().some((count) => count > MOST_COPIES))
    throw new BadRequest(`An order has up to ${MOST_COPIES} copies each of ${MOST_BOOKS} books`, {
      code: "TOO_MUCH_ORDERED",
    });
  return [...copies].map(([book, count]) => ({ book, copies: count })).toSorted((a, b) => (a.book < b.book ? -1 : 1));
}

const MOST_BOOKS = 20;
const MOST_COPIES = 100;

interface TakenBook {
  readonly book_id: string;
  readonly copies: number;
  readonly price_cents: number;
}

async function takeFromShelf(
  trx: Transaction<Tables>,
  ctx: Ordering,
  { book, copies }: OrderedBook,
): Promise<TakenBook> {
  const left = await trx
    .updateTable("books")
    .set((eb) => ({ stock: eb("stock", "-", copies) }))
    .where("id", "=", book)
    .where("stock", ">=", copies)
    .returning(["stock", "price_cents"])
    .executeTakeFirst();
  if (left !== undefined) {
    await ctx.pubsub.publish(stockOf(book), left.stock);
    return { book_id: book, copies, price_cents: left.price_cents };
  }
  const known = await trx.selectFrom("books").select(["title", "stock"]).where("id", "=", book).executeTakeFirst();
  if (known === undefined) throw new NotFound(`There is no book ${book}`);
  throw new Conflict(`There are ${known.stock} left of ${known.title}`, { code: "OUT_OF_STOCK" });
}
