import type { OrderLineRow } from "./order-table.ts";

export function totalOf(lines: readonly OrderLineRow[]): number {
  return lines.reduce((sum, { copies, price_cents }) => sum + copies * price_cents, 0);
}
