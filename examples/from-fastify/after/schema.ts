import { eq, inArray } from "drizzle-orm";
import { type BaseContext, Depend, isEqual, NotFound } from "portico";
import { drizzleHandler } from "portico/drizzle";
import { connectionResolver, inject, loader } from "portico/graphql";
import type { Database } from "../shared/database.ts";
import { auditEntries, customers, type OrderRow, orderLines, orders } from "../shared/tables.ts";
import { orderPages } from "./order-list.ts";

export interface ShopContext {
  readonly db: Database;
  readonly ctx: BaseContext;
}

export const typeDefs = `
  type Customer { id: ID! name: String! }
  type OrderLine { product: String! quantity: Int! }
  type Order {
    id: ID!
    status: String!
    totalCents: Int!
    createdAt: String!
    customer: Customer
    lines: [OrderLine!]!
  }
  type PageInfo { hasNextPage: Boolean! endCursor: String }
  type OrderConnection { nodes: [Order!]! pageInfo: PageInfo! totalCount: Int }
  enum OrderSort { CREATED_AT_ASC CREATED_AT_DESC TOTAL_CENTS_ASC TOTAL_CENTS_DESC }
  input StatusFilter { equal: String }
  input CentsFilter { gt: Int gte: Int lt: Int lte: Int }
  input OrderFilter { status: StatusFilter totalCents: CentsFilter }
  type Query {
    me: Customer
    order(id: ID!): Order
    orders(first: Int, after: String, status: String, sort: [OrderSort!], filter: OrderFilter): OrderConnection
    audit: [String!]
  }
  type Mutation { shipOrder(id: ID!): Order }
`;

/** The resolvers. Rules about orders, the audit and shipping are in `Graph.rules`. */
export function shopResolvers(db: Database) {
  const customer = loader(async (ids: readonly string[]) => {
    const rows = await db
      .select()
      .from(customers)
      .where(inArray(customers.id, [...ids]));
    return ids.map((id) => rows.find((row) => row.id === id) ?? new Error(`unknown customer ${id}`));
  });
  const lines = loader(async (ids: readonly string[]) => {
    const rows = await db
      .select()
      .from(orderLines)
      .where(inArray(orderLines.orderId, [...ids]))
      .orderBy(orderLines.id);
    const byOrder = Map.groupBy(rows, ({ orderId }) => orderId);
    return ids.map((id) => byOrder.get(id) ?? []);
  });
  const orderTable = Depend(() => ({
    ship: (id: string) => db.update(orders).set({ status: "shipped" }).where(eq(orders.id, id)).returning(),
  }));
  return {
    Query: {
      me: (_parent: unknown, _args: object, { ctx: { user } }: ShopContext) =>
        user.isAuthenticated ? { id: user.identity, name: user.displayName } : null,
      order: async (_parent: unknown, { id }: { id: string }, { db }: ShopContext) => {
        const [order] = await db.select().from(orders).where(eq(orders.id, id));
        return order;
      },
      orders: connectionResolver(
        orderPages,
        (_parent: unknown, { status }: { status?: string | null }, { db }: ShopContext) => {
          const list = drizzleHandler(db.select().from(orders));
          return status ? list.scopedTo(isEqual("status", status)) : list;
        },
        { cursorScope: ({ args: { status } }) => (status ? { status } : undefined) },
      ),
      audit: async (_parent: unknown, _args: object, { db }: ShopContext) => {
        const rows = await db.select().from(auditEntries).orderBy(auditEntries.id);
        return rows.map(({ entry }) => entry);
      },
    },
    Mutation: {
      shipOrder: inject({ orderTable }, async (_parent: unknown, { id }: { id: string }, { orderTable }) => {
        const [order] = await orderTable.ship(id);
        if (order === undefined) throw new NotFound();
        return order;
      }),
    },
    Order: {
      createdAt: ({ createdAt }: OrderRow) => createdAt.toISOString(),
      customer: ({ customerId }: OrderRow, _args: object, { ctx }: ShopContext) => customer.load(ctx, customerId),
      lines: ({ id }: OrderRow, _args: object, { ctx }: ShopContext) => lines.load(ctx, id),
    },
  };
}
