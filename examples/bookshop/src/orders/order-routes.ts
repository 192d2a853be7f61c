import { authorized, type BaseContext, Router } from "portico";
import * as z from "zod";
import { whoMay } from "../accounts/who-may.ts";
import { database, inTransaction, visibleOrders } from "../database.ts";
import { allOrders, latestFirst } from "./order-lists.ts";
import { linesOfOrder } from "./order-loaders.ts";
import { type OrderRow, orderStates } from "./order-table.ts";
import { placeOrder } from "./place-order.ts";
import { totalOf } from "./total-of.ts";

const ListedOrder = z.object({
  id: z.string(),
  state: z.enum(orderStates),
  // With `pipe`, the OpenAPI document describes the result as well.
  at: z
    .date()
    .transform((at) => at.toISOString())
    .pipe(z.iso.datetime()),
});
const Line = z.object({ book_id: z.string(), copies: z.int(), price_cents: z.int() });
const Order = ListedOrder.extend({ total_cents: z.int(), lines: z.array(Line).readonly() });
const NewOrder = z.object({ books: z.array(z.object({ book: z.string(), copies: z.int().min(1).default(1) })).min(1) });

/** The routes under /orders. All of them require a signed-in user. */
export function orderRoutes(): Router {
  const router = new Router({ auth: true });

  router.get(
    "/",
    {
      paginated: { strategy: latestFirst, item: ListedOrder, rule: visibleOrders },
      summary: "Lists the orders that I placed, and those for my books",
      tags: ["orders"],
    },
    ({ user, response }) =>
      response.apaginate(allOrders(), { strategy: latestFirst, cursorScope: { caller: user.id } }),
  );

  router.get(
    "/:id",
    {
      params: {
        order: authorized(
          ({ path }) => database.selectFrom("orders").selectAll().where("id", "=", path.id).executeTakeFirst(),
          visibleOrders,
        ),
      },
      response: Order,
      summary: "Returns an order, with the lines that I may see",
      tags: ["orders"],
    },
    ({ order, ctx }) => withLines(ctx, order),
  );

  router.post(
    "/",
    {
      auth: whoMay("place:orders"),
      body: NewOrder,
      response: { 201: Order },
      params: { trx: inTransaction },
      // A buyer whose connection was lost may send the order again: it is placed once.
      idempotent: inTransaction,
      summary: "Orders books",
      tags: ["orders"],
    },
    async ({ body, ctx, trx, response }) =>
      response.status(201).json(await withLines(ctx, await placeOrder(trx, ctx, body.books))),
  );

  return router;
}

async function withLines(ctx: BaseContext, order: OrderRow) {
  const lines = await linesOfOrder.load(ctx, order.id);
  return { ...order, lines, total_cents: totalOf(lines) };
}
