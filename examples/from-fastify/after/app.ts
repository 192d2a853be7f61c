import { makeExecutableSchema } from "@graphql-tools/schema";
import { eq } from "drizzle-orm";
import Fastify, { type FastifyInstance } from "fastify";
import { PorticoApp } from "portico";
import { AuthenticationFailed, AuthenticationMiddleware, JWTAuthBackend, TokenForUser, useAuth } from "portico/auth";
import { drizzleHandler } from "portico/drizzle";
import { Graph } from "portico/graphql";
import * as z from "zod";
import type { Database } from "../shared/database.ts";
import { orders } from "../shared/tables.ts";
import { checkPassword, customerModel } from "./customer.ts";
import { orderPages } from "./order-list.ts";
import { visibleOrders } from "./order-rules.ts";
import { shopResolvers, typeDefs } from "./schema.ts";

const TOKENS = { issuer: "shop", audience: "shop" };
const Login = z.object({ email: z.string(), password: z.string() });
const Order = z.object({
  id: z.string(),
  customerId: z.string(),
  status: z.string(),
  totalCents: z.int(),
  createdAt: z.iso.datetime(),
});
const OrderPage = z.object({ items: z.array(Order), next: z.string().nullable() });

export async function shopAfter(db: Database, { secret }: { readonly secret: string }): Promise<FastifyInstance> {
  const app = new PorticoApp({ logger: false, cursorKeys: [secret] });
  const backend = new JWTAuthBackend({ secretKey: secret, identifier: "sub", ...TOKENS });
  app.use(new AuthenticationMiddleware({ userModel: customerModel(db), backend }));

  new Graph(makeExecutableSchema({ typeDefs, resolvers: shopResolvers(db) }), {
    rules: {
      Order: visibleOrders,
      "Query.orders": true,
      "Query.audit": useAuth({ permissions: ["read:audit"] }),
      "Mutation.shipOrder": useAuth({ permissions: ["ship:orders"] }),
    },
    context: (ctx) => ({ db, ctx }),
  }).mount(app);

  app.post("/login", { body: Login }, async ({ body: { email, password }, response }) => {
    const customer = await checkPassword(db, email, password);
    if (customer === null) throw new AuthenticationFailed("Incorrect email or password");
    response.header("cache-control", "no-store");
    const options = { secret, accessSeconds: 3600, ...TOKENS };
    return { token: (await new TokenForUser(customer, options).tokenPair()).access_token };
  });

  const paginated = { strategy: orderPages, rule: visibleOrders };
  app.get("/orders", { auth: true, paginated, response: OrderPage }, async ({ response }) => {
    const list = drizzleHandler(db.select().from(orders));
    const { items, pagination } = await response.page(list, { strategy: orderPages });
    return {
      items: items.map((order) => ({ ...order, createdAt: order.createdAt.toISOString() })),
      next: pagination.next_cursor,
    };
  });

  const fastify = Fastify();
  await fastify.register(app.plugin());

  fastify.get("/health", async () => ({ status: "ok" }));

  fastify.get("/me", async (request, reply) => {
    const { user } = await app.identify(request, reply, { auth: true });
    return { id: user.identity, name: user.displayName };
  });

  fastify.get<{ Params: { id: string } }>("/orders/:id", async (request, reply) => {
    const ctx = await app.identify(request, reply, { auth: true });
    const [order] = await db.select().from(orders).where(eq(orders.id, request.params.id));
    return ctx.authorize(visibleOrders, order);
  });

  return fastify;
}
