import { type Loader, loader } from "portico/graphql";
import { database } from "../database.ts";
import type { OrderLineRow } from "./order-table.ts";

/** The lines of each order. */
export const linesOfOrder: Loader<string, readonly OrderLineRow[]> = loader(async (ids: readonly string[]) => {
  const rows = await database
    .current()
    .selectFrom("order_lines")
    .selectAll()
    .where("order_id", "in", ids)
    .orderBy("book_id")
    .execute();
  const byOrder = Map.groupBy(rows, ({ order_id }) => order_id);
  return ids.map((id) => byOrder.get(id) ?? []);
});

/** The id of each order's buyer. */
export const buyerOfOrder: Loader<string, string> = loader(async (ids: readonly string[]) => {
  const rows = await database
    .current()
    .selectFrom("orders")
    .select(["id", "buyer_id"])
    .where("id", "in", ids)
    .execute();
  const buyers = new Map(rows.map(({ id, buyer_id }) => [id, buyer_id]));
  return ids.map((id) => buyers.get(id) ?? new Error(`the order ${id} does not exist`));
});
