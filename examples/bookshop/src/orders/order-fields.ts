import { authorized, Conflict } from "portico";
import { connection, field, mutation, subscription, t } from "portico/graphql";
import type { Transaction } from "portico/sql";
import { Activity } from "../accounts/activity.ts";
import { whoMay } from "../accounts/who-may.ts";
import { database, inTransaction, shippableOrders, visibleOrders } from "../database.ts";
import type { Tables } from "../tables.ts";
import { allOrders, latestFirst, ordersOf } from "./order-lists.ts";
import { orderPlaced } from "./order-news.ts";
import { shipsOrders } from "./order-rules.ts";
import { Order } from "./order-type.ts";
import { placeOrder } from "./place-order.ts";

const OrderedBook = t.input("OrderedBook", { book: t.id, copies: t.int(1) });

export const orderQueries = {
  // The rule of the type selects the orders. Cursors are bound to the caller, so another user's is rejected.
  orders: connection(Order, latestFirst, {
    auth: true,
    cursorScope: ({ ctx }) => ({ caller: ctx.user.id }),
    description: "All orders that I may see: those that I placed, and those for my books.",
  })(() => allOrders()),

  order: field(t.nullable(Order), { params: { id: t.id } })(({ id }) =>
    database.current().selectFrom("orders").selectAll().where("id", "=", id).executeTakeFirst(),
  ),

  myOrders: connection(Order, latestFirst, {
    auth: true,
    cursorScope: ({ ctx }) => ({ buyer: ctx.user.id }),
    description: "The orders that I placed.",
  })(({ ctx }) => ordersOf(ctx.user.id)),

  myActivity: field(t.list(Activity), { auth: true, listSize: 20, description: "My latest orders and reviews." })(
    async ({ ctx }) => {
      const [orders, reviews] = await Promise.all([
        database
          .selectFrom("orders")
          .selectAll()
          .where("buyer_id", "=", ctx.user.id)
          .orderBy("at", "desc")
          .limit(10)
          .execute(),
        database
          .selectFrom("reviews")
          .selectAll()
          .where("reader_id", "=", ctx.user.id)
          .orderBy("at", "desc")
          .limit(10)
          .execute(),
      ]);
      return [...orders, ...reviews].toSorted((a, b) => b.at.getTime() - a.at.getTime());
    },
  ),
};

/** Locks an order until the transaction ends. */
const lockedOrder = ({ args, trx }: { args: { id: string }; trx: Transaction<Tables> }) =>
  trx.selectFrom("orders").selectAll().where("id", "=", args.id).forUpdate().executeTakeFirst();

export const orderMutations = {
  placeOrder: mutation(Order, {
    params: { books: t.list(OrderedBook), trx: inTransaction },
    auth: whoMay("place:orders"),
    idempotent: inTransaction,
  })(({ books, trx, ctx }) => placeOrder(trx, ctx, books)),

  shipOrder: mutation(Order, {
    params: {
      id: t.id,
      trx: inTransaction,
      order: authorized({ trx: inTransaction })(lockedOrder, visibleOrders, { may: shippableOrders }),
    },
    auth: shipsOrders,
    description:
      "A seller ships the orders that have no books of others. An order that the caller may not see is NOT_FOUND.",
  })(async ({ id, trx, order }) => {
    if (order.state !== "placed") throw new Conflict(`This order is already ${order.state}`, { code: "ORDER_CLOSED" });
    return trx
      .updateTable("orders")
      .set({ state: "shipped" })
      .where("id", "=", id)
      .returningAll()
      .executeTakeFirstOrThrow();
  }),
};

export const orderNews = {
  orderPlaced: subscription(Order, {
    auth: shipsOrders,
    description: "Every new order that the caller may see.",
  })(async function* ({ ctx }) {
    for await (const { id } of ctx.pubsub.subscribe(orderPlaced)) {
      const order = await database.selectFrom("orders").selectAll().where("id", "=", id).executeTakeFirst();
      // The database returns no orders that the caller may not see.
      if (order !== undefined) yield order;
    }
  }),
};
