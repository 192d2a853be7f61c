import { type Loader, loader } from "portico/graphql";
import { database } from "../database.ts";
import type { OrderLineRow } from "./order-table.ts";

/** The lines of each order that the caller may see. */
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
