import { every, isEqual, isIn, not, rule, some } from "portico";
import { loader } from "portico/graphql";
import type { Database } from "portico/sql";
import { whoMay } from "../accounts/who-may.ts";
import type { Tables } from "../tables.ts";
import type { OrderLineRow, OrderRow } from "./order-table.ts";

/**
 * The rules about orders. `allows` decides about one row, and `where` selects the same rows of a table. A test compares the two.
 * The database has these rules as its guard, so it can't be imported here. `all` returns a handle without rules: whether
 * a seller may ship an order depends on the lines that the seller can't see.
 */
export function orderRules(all: () => Database<Tables>) {
  const sellersOfOrder = loader(async (ids: readonly string[]) => {
    const rows = await all()
      .selectFrom("order_lines")
      .select(["order_id", "seller_id"])
      .where("order_id", "in", ids)
      .execute();
    const byOrder = Map.groupBy(rows, ({ order_id }) => order_id);
    return ids.map((id) => (byOrder.get(id) ?? []).map(({ seller_id }) => seller_id));
  });
  const buyerOfOrder = loader(async (ids: readonly string[]) => {
    const rows = await all().selectFrom("orders").select(["id", "buyer_id"]).where("id", "in", ids).execute();
    const buyers = new Map(rows.map(({ id, buyer_id }) => [id, buyer_id]));
    return ids.map((id) => buyers.get(id) ?? new Error(`the order ${id} does not exist`));
  });

  /** Buyers see their own orders, sellers those with at least one of their books, and staff all of them. */
  const visibleOrders = some(
    whoMay("read:orders"),
    rule<OrderRow>({
      name: "order.visible",
      says: "the buyer, and the sellers of its books",
      allows: async (user, order, { ctx }) =>
        order.buyer_id === user.id ||
        (user.may("sell:books") && (await sellersOfOrder.load(ctx, order.id)).includes(user.id)),
      where: (user) => {
        const bought = isEqual("buyer_id", user.id);
        const sold = isIn("id", { from: "order_lines", column: "order_id", where: isEqual("seller_id", user.id) });
        return user.may("sell:books") ? some(bought, sold) : bought;
      },
    }),
  );

  /** Of an order, a seller sees only the lines with their own books. */
  const visibleLines = some(
    whoMay("read:orders"),
    rule<OrderLineRow>({
      name: "order-line.visible",
      says: "the buyer, and the seller of the book",
      allows: async (user, line, { ctx }) =>
        (user.may("sell:books") && line.seller_id === user.id) ||
        (await buyerOfOrder.load(ctx, line.order_id)) === user.id,
      where: (user) => {
        const bought = isIn("order_id", { from: "orders", column: "id", where: isEqual("buyer_id", user.id) });
        return user.may("sell:books") ? some(isEqual("seller_id", user.id), bought) : bought;
      },
    }),
  );

  /** A seller ships the orders that have no books of others. Staff ship all orders. */
  const shippableOrders = some(
    whoMay("ship:orders"),
    every(
      whoMay("sell:books"),
      rule<OrderRow>({
        name: "order.shippable",
        says: "the seller of all its books",
        allows: async (user, order, { ctx }) =>
          (await sellersOfOrder.load(ctx, order.id)).every((seller) => seller === user.id),
        where: (user) =>
          not(isIn("id", { from: "order_lines", column: "order_id", where: not(isEqual("seller_id", user.id)) })),
      }),
    ),
  );

  const ownOrders = rule<OrderRow>({
    name: "order.own",
    says: "the buyer",
    allows: (user, order) => order.buyer_id === user.id,
    where: (user) => isEqual("buyer_id", user.id),
  });
  const linesOfOwnOrders = rule<OrderLineRow>({
    name: "order-line.own",
    says: "the buyer",
    allows: async (user, line, { ctx }) => (await buyerOfOrder.load(ctx, line.order_id)) === user.id,
    where: (user) => isIn("order_id", { from: "orders", column: "id", where: isEqual("buyer_id", user.id) }),
  });

  return {
    visibleOrders,
    visibleLines,
    shippableOrders,
    /** Buyers place orders, and sellers and staff ship them. */
    writableOrders: some(every(whoMay("place:orders"), ownOrders), shippableOrders),
    /** Only the buyer writes lines, when the order is placed. */
    writableLines: every(whoMay("place:orders"), linesOfOwnOrders),
  };
}

/** Users who may ship orders at all. */
export const shipsOrders = some(whoMay("ship:orders"), whoMay("sell:books"));
