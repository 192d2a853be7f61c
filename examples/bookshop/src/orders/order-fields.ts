import { Depend, NotFound } from "portico";
import { connection, field, mutation, subscription, t } from "portico/graphql";
import { Activity } from "../accounts/activity.ts";
import { database, unitOfWork } from "../database.ts";
import { latestFirst, ordersOf } from "./order-lists.ts";
import { orderPlaced } from "./order-news.ts";
import { Order } from "./order-type.ts";
import { placeOrder } from "./place-order.ts";

const OrderedBook = t.input("OrderedBook", { book: t.id, copies: t.int(1) });

export const orderQueries = {
  // Each user has their own list, so another user's cursor is rejected.
  myOrders: connection(Order, latestFirst, { auth: true, filter: ({ ctx }) => ({ buyer: ctx.user.id }) })(({ ctx }) =>
    ordersOf(ctx.user.id),
  ),

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

export const orderMutations = {
  placeOrder: mutation(Order, {
    params: { books: t.list(OrderedBook), trx: Depend(unitOfWork) },
    auth: (user) => user.may("place:orders"),
  })(({ books, trx, ctx }) => placeOrder(trx, ctx, books)),

  shipOrder: mutation(Order, {
    params: { id: t.id, trx: Depend(unitOfWork) },
    auth: (user) => user.may("read:orders"),
  })(async ({ id, trx }) => {
    const shipped = await trx
      .updateTable("orders")
      .set({ state: "shipped" })
      .where("id", "=", id)
      .where("state", "=", "placed")
      .returningAll()
      .executeTakeFirst();
    if (shipped === undefined) throw new NotFound(`There is no unshipped order ${id}`);
    return shipped;
  }),
};

export const orderNews = {
  orderPlaced: subscription(Order, {
    auth: (user) => user.may("read:orders"),
    description: "Every new order.",
  })(async function* ({ ctx }) {
    for await (const { id } of ctx.pubsub.subscribe(orderPlaced))
      yield await database.selectFrom("orders").selectAll().where("id", "=", id).executeTakeFirstOrThrow();
  }),
};
