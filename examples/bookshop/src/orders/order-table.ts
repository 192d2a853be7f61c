import type { Generated, Selectable } from "kysely";

export const orderStates = ["placed", "shipped", "cancelled"] as const;
type OrderState = (typeof orderStates)[number];

export interface OrderTable {
  id: Generated<string>;
  buyer_id: string;
  state: Generated<OrderState>;
  at: Generated<Date>;
}
export type OrderRow = Selectable<OrderTable>;

export interface OrderLineTable {
  order_id: string;
  book_id: string;
  copies: number;
  /** The price at the time of the order. */
  price_cents: number;
  /** The seller at the time of the order, or null for a book of the shop. */
  seller_id: string | null;
}
export type OrderLineRow = Selectable<OrderLineTable>;
