import { and, count, desc, eq, type SQL, sql } from "drizzle-orm";
import type { Database } from "../shared/database.ts";
import { type CustomerRow, type OrderRow, orders } from "../shared/tables.ts";

const DEFAULT_SIZE = 20;
const MAX_SIZE = 100;

export interface OrderPage {
  readonly nodes: readonly OrderRow[];
  readonly hasNextPage: boolean;
  readonly endCursor: string | null;
  readonly totalCount: () => Promise<number>;
}

export interface OrderPageArgs {
  readonly first?: number | null;
  readonly after?: string | null;
  readonly status?: string | null;
}

class InvalidCursor extends Error {
  readonly statusCode = 400;
}

/** Reads a page of the orders that the customer may see, newest first. */
export async function orderPage(db: Database, customer: CustomerRow, args: OrderPageArgs): Promise<OrderPage> {
  const size = Math.min(Math.max(args.first ?? DEFAULT_SIZE, 1), MAX_SIZE);
  const visible: SQL[] = [];
  if (customer.isStaff === 0) visible.push(eq(orders.customerId, customer.id));
  if (args.status) visible.push(eq(orders.status, args.status));
  const beyond = args.after ? afterCursor(args.after) : undefined;
  const rows = await db
    .select()
    .from(orders)
    .where(and(...visible, beyond))
    .orderBy(desc(orders.createdAt), desc(orders.id))
    .limit(size + 1);
  const nodes = rows.slice(0, size);
  const last = nodes.at(-1);
  return {
    nodes,
    hasNextPage: rows.length > size,
    endCursor: last === undefined ? null : cursorOf(last),
    totalCount: async () => {
      const [row] = await db
        .select({ total: count() })
        .from(orders)
        .where(and(...visible));
      return row?.total ?? 0;
    },
  };
}

function cursorOf({ createdAt, id }: OrderRow): string {
  return Buffer.from(JSON.stringify([createdAt.toISOString(), id])).toString("base64url");
}

function afterCursor(cursor: string): SQL {
  try {
    const [createdAt, id] = JSON.parse(Buffer.from(cursor, "base64url").toString()) as unknown[];
    if (typeof createdAt === "string" && typeof id === "string" && !Number.isNaN(Date.parse(createdAt)))
      return sql`(${orders.createdAt}, ${orders.id}) < (${createdAt}::timestamptz, ${id})`;
  } catch {
    // Not a cursor of this list.
  }
  throw new InvalidCursor("The cursor is invalid");
}
