import { CursorPagination } from "portico/pagination";
import { type TableHandler, tableHandler } from "portico/sql";
import { database } from "../database.ts";
import type { OrderRow } from "./order-table.ts";

export const latestFirst = new CursorPagination({
  order: [
    ["at", "desc"],
    ["id", "desc"],
  ],
  maxPageSize: 50,
});

/** All orders. The rule of a list selects those that the caller may see. */
export function allOrders(): TableHandler<OrderRow> {
  return tableHandler(database.selectFrom("orders").selectAll());
}

/** The orders that a user has placed. */
export function ordersOf(buyer: string): TableHandler<OrderRow> {
  return tableHandler(database.selectFrom("orders").selectAll().where("buyer_id", "=", buyer));
}
