import { Depend, Router } from "portico";
import { useAuth } from "portico/auth";
import * as z from "zod";
import { whoMay } from "../accounts/user.ts";
import { unitOfWork } from "../database.ts";
import { latestFirst, ordersOf } from "./order-lists.ts";
import { orderStates } from "./order-table.ts";
import { placeOrder } from "./place-order.ts";

const Order = z.object({
  id: z.string(),
  state: z.enum(orderStates),
  total_cents: z.int(),
  // With `pipe`, the OpenAPI document describes the result as well.
  at: z
    .date()
    .transform((at) => at.toISOString())
    .pipe(z.iso.datetime()),
});
const NewOrder = z.object({ books: z.array(z.object({ book: z.string(), copies: z.int().min(1).default(1) })).min(1) });

/** The routes under /orders, for a user's own orders. */
export function orderRoutes(): Router {
  const router = new Router();

  router.get(
    "/",
    {
      auth: useAuth(),
      paginated: { strategy: latestFirst, item: Order },
      summary: "Lists my orders",
      tags: ["orders"],
    },
    ({ user, response }) =>
      response.apaginate(ordersOf(user.id), { strategy: latestFirst, filter: { buyer: user.id } }),
  );

  router.post(
    "/",
    {
      auth: whoMay("place:orders"),
      body: NewOrder,
      response: { 201: Order },
      params: { trx: Depend(unitOfWork) },
      summary: "Orders books",
      tags: ["orders"],
    },
    async ({ body, ctx, trx, response }) => response.status(201).json(await placeOrder(trx, ctx, body.books)),
  );

  return router;
}
