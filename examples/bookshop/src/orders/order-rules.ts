import { every, isEqual, isIn, rule, some } from "portico";
import { whoMay } from "../accounts/user.ts";
import { buyerOfOrder, linesOfOrder } from "./order-loaders.ts";
import type { OrderLineRow, OrderRow } from "./order-table.ts";

// `allows` decides about one row, and `where` selects the same rows of a table. A test compares the two.

/** Buyers see their own orders, sellers those with at least one of their books, and staff all of them. */
export const visibleOrders = some(
  whoMay("read:orders"),
  rule<OrderRow>({
    name: "order.visible",
    allows: async (user, order, { ctx }) =>
      order.buyer_id === user.id ||
      (user.may("sell:books") && (await linesOfOrder.load(ctx, order.id)).some((line) => line.seller_id === user.id)),
    where: (user) => {
      const bought = isEqual("buyer_id", user.id);
      const sold = isIn("id", { from: "order_lines", column: "order_id", where: isEqual("seller_id", user.id) });
      return user.may("sell:books") ? some(bought, sold) : bought;
    },
  }),
);

/** Of an order, a seller sees only the lines with their own books. */
export const visibleLines = some(
  whoMay("read:orders"),
  rule<OrderLineRow>({
    name: "order-line.visible",
    allows: async (user, line, { ctx }) =>
      (user.may("sell:books") && line.seller_id === user.id) ||
      (await buyerOfOrder.load(ctx, line.order_id)) === user.id,
    where: (user) => {
      const bought = isIn("order_id", { from: "orders", column: "id", where: isEqual("buyer_id", user.id) });
      return user.may("sell:books") ? some(isEqual("seller_id", user.id), bought) : bought;
    },
  }),
);

/** Users who may ship orders at all. */
export const shipsOrders = some(whoMay("ship:orders"), whoMay("sell:books"));

/** A seller ships the orders that have no books of others. Staff ship all orders. */
export const shippableOrders = some(
  whoMay("ship:orders"),
  every(
    whoMay("sell:books"),
    rule<OrderRow>({
      name: "order.shippable",
      allows: async (user, order, { ctx }) =>
        (await linesOfOrder.load(ctx, order.id)).every((line) => line.seller_id === user.id),
    }),
  ),
);
