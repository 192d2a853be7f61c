import { BadRequest, type BaseContext, Conflict, type CurrentUser, NotFound } from "portico";
import type { Transaction } from "portico/sql";
import { stockOf } from "../books/stock-news.ts";
import { shelf } from "../database.ts";
import type { Tables } from "../tables.ts";
import { orderPlaced } from "./order-news.ts";
import type { OrderRow } from "./order-table.ts";

export interface OrderedBook {
  readonly book: string;
  readonly copies: number;
}
/** The buyer, and the bus for events. */
type Ordering = BaseContext<CurrentUser>;

/** Takes the copies out of stock and saves the order, or does neither. */
export async function placeOrder(
  trx: Transaction<Tables>,
  ctx: Ordering,
  ordered: readonly OrderedBook[],
): Promise<OrderRow> {
  const taken = [];
  for (const line of linesOf(ordered)) taken.push(await takeFromShelf(trx, ctx, line));

  const order = await trx
    .insertInto("orders")
    .values({ buyer_id: ctx.user.id })
    .returningAll()
    .executeTakeFirstOrThrow();
  await trx
    .insertInto("order_lines")
    .values(taken.map((line) => ({ order_id: order.id, ...line })))
    .execute();
  await ctx.pubsub.publish(orderPlaced, { id: order.id });
  return order;
}

/** One line per book, always in the same order, because two orders of the same two books could otherwise deadlock. */
function linesOf(ordered: readonly OrderedBook[]): readonly OrderedBook[] {
  if (ordered.some(({ copies }) => copies < 1) || ordered.length === 0)
    throw new BadRequest("An order must contain at least one copy of a book", { code: "NOTHING_ORDERED" });
  const copies = new Map<string, number>();
  for (const line of ordered) copies.set(line.book, (copies.get(line.book) ?? 0) + line.copies);
  if (copies.size > MAX_BOOKS || copies.values().some((count) => count > MAX_COPIES))
    throw new BadRequest(`An order can contain at most ${MAX_BOOKS} books with ${MAX_COPIES} copies each`, {
      code: "TOO_MUCH_ORDERED",
    });
  return [...copies].map(([book, count]) => ({ book, copies: count })).toSorted((a, b) => (a.book < b.book ? -1 : 1));
}

const MAX_BOOKS = 20;
const MAX_COPIES = 100;

interface TakenBook {
  readonly book_id: string;
  readonly copies: number;
  readonly price_cents: number;
  readonly seller_id: string | null;
}

async function takeFromShelf(
  trx: Transaction<Tables>,
  ctx: Ordering,
  { book, copies }: OrderedBook,
): Promise<TakenBook> {
  // Buyers may not change books.
  const left = await shelf
    .current()
    .updateTable("books")
    .set((eb) => ({ stock: eb("stock", "-", copies) }))
    .where("id", "=", book)
    .where("stock", ">=", copies)
    .returning(["stock", "price_cents", "seller_id"])
    .executeTakeFirst();
  if (left !== undefined) {
    await ctx.pubsub.publish(stockOf(book), left.stock);
    return { book_id: book, copies, price_cents: left.price_cents, seller_id: left.seller_id };
  }
  const known = await trx.selectFrom("books").select(["title", "stock"]).where("id", "=", book).executeTakeFirst();
  if (known === undefined) throw new NotFound(`The book ${book} does not exist`);
  throw new Conflict(`Only ${known.stock} copies of ${known.title} are left`, { code: "OUT_OF_STOCK" });
}
