import type { BaseContext } from "portico";
import { linesOfOrder } from "./order-loaders.ts";
import { visibleLines } from "./order-rules.ts";
import type { OrderLineRow, OrderRow } from "./order-table.ts";

/** Returns the lines of an order that the caller may see. */
export async function visibleLinesOf(ctx: BaseContext, order: OrderRow): Promise<readonly OrderLineRow[]> {
  const lines = await linesOfOrder.load(ctx, order.id);
  const isVisible = await Promise.all(lines.map((line) => ctx.can(visibleLines, line)));
  return lines.filter((_line, index) => isVisible[index]);
}

export function totalOf(lines: readonly OrderLineRow[]): number {
  return lines.reduce((sum, { copies, price_cents }) => sum + copies * price_cents, 0);
}
