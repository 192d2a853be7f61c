import { eq } from "drizzle-orm";
import type { Database } from "../shared/database.ts";
import { auditEntries, type CustomerRow, customers, type OrderRow, orderLines, orders } from "../shared/tables.ts";
import { type OrderPage, type OrderPageArgs, orderPage } from "./order-page.ts";

export interface ShopContext {
  readonly db: Database;
  readonly user: CustomerRow | null;
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
  type Query {
    me: Customer
    order(id: ID!): Order
    orders(first: Int, after: String, status: String): OrderConnection
    audit: [String!]
  }
  type Mutation { shipOrder(id: ID!): Order }
`;

export const resolvers = {
  Query: {
    me: (_parent: unknown, _args: object, { user }: ShopContext) => user,
    order: async (_parent: unknown, { id }: { id: string }, { db, user }: ShopContext) => {
      if (user === null) return null;
      const [order] = await db.select().from(orders).where(eq(orders.id, id));
      return order !== undefined && (user.isStaff === 1 || order.customerId === user.id) ? order : null;
    },
    orders: (_parent: unknown, args: OrderPageArgs, { db, user }: ShopContext) => {
      if (user === null) throw new Error("Authentication required");
      return orderPage(db, user, args);
    },
    audit: async (_parent: unknown, _args: object, { db, user }: ShopContext) => {
      if (user === null) throw new Error("Authentication required");
      if (user.isStaff === 0) throw new Error("Permission denied");
      const rows = await db.select().from(auditEntries).orderBy(auditEntries.id);
      return rows.map(({ entry }) => entry);
    },
  },
  Mutation: {
    shipOrder: async (_parent: unknown, { id }: { id: string }, { db, user }: ShopContext) => {
      if (user === null) throw new Error("Authentication required");
      if (user.isStaff === 0) throw new Error("Permission denied");
      const [order] = await db.update(orders).set({ status: "shipped" }).where(eq(orders.id, id)).returning();
      if (order === undefined) throw new Error("Not found");
      return order;
    },
  },
  OrderConnection: {
    pageInfo: ({ hasNextPage, endCursor }: OrderPage) => ({ hasNextPage, endCursor }),
  },
  Order: {
    createdAt: ({ createdAt }: OrderRow) => createdAt.toISOString(),
    customer: async ({ customerId }: OrderRow, _args: object, { db }: ShopContext) => {
      const [customer] = await db.select().from(customers).where(eq(customers.id, customerId));
      return customer;
    },
    lines: ({ id }: OrderRow, _args: object, { db }: ShopContext) =>
      db.select().from(orderLines).where(eq(orderLines.orderId, id)).orderBy(orderLines.id),
  },
};
