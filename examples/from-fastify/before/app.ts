import { eq } from "drizzle-orm";
import Fastify, { type FastifyInstance } from "fastify";
import mercurius from "mercurius";
import type { Database } from "../shared/database.ts";
import { isPassword } from "../shared/passwords.ts";
import { customers, orders } from "../shared/tables.ts";
import { orderPage } from "./order-page.ts";
import { resolvers, typeDefs } from "./schema.ts";
import { customerOf, signToken } from "./tokens.ts";

class Refused extends Error {
  readonly statusCode: number;
  constructor(statusCode: number, message: string) {
    super(message);
    this.statusCode = statusCode;
  }
}

export async function shopBefore(db: Database, { secret }: { readonly secret: string }): Promise<FastifyInstance> {
  const fastify = Fastify();
  await fastify.register(mercurius, {
    schema: typeDefs,
    resolvers: resolvers as never,
    allowBatchedQueries: true,
    context: async (request) => ({ db, user: await customerOf(request, db, secret) }),
  });

  const login = {
    type: "object",
    required: ["email", "password"],
    properties: { email: { type: "string" }, password: { type: "string" } },
  };
  fastify.post<{ Body: { email: string; password: string } }>(
    "/login",
    { schema: { body: login } },
    async (request) => {
      const { email, password } = request.body;
      const [customer] = await db.select().from(customers).where(eq(customers.email, email));
      if (customer === undefined || !isPassword(password, customer.passwordHash))
        throw new Refused(401, "Incorrect email or password");
      return { token: await signToken(customer, secret) };
    },
  );

  fastify.get("/health", async () => ({ status: "ok" }));

  fastify.get("/me", async (request) => {
    const customer = await customerOf(request, db, secret);
    if (customer === null) throw new Refused(401, "Authentication required");
    return { id: customer.id, name: customer.name };
  });

  fastify.get<{ Params: { id: string } }>("/orders/:id", async (request) => {
    const customer = await customerOf(request, db, secret);
    if (customer === null) throw new Refused(401, "Authentication required");
    const [order] = await db.select().from(orders).where(eq(orders.id, request.params.id));
    if (order === undefined || (customer.isStaff === 0 && order.customerId !== customer.id))
      throw new Refused(404, "Not found");
    return order;
  });

  fastify.get<{ Querystring: { limit?: string; after?: string; status?: string } }>("/orders", async (request) => {
    const customer = await customerOf(request, db, secret);
    if (customer === null) throw new Refused(401, "Authentication required");
    const { limit, after, status } = request.query;
    const first = limit === undefined ? null : Number(limit);
    if (first !== null && !(first >= 1)) throw new Refused(400, "The limit is invalid");
    const page = await orderPage(db, customer, { first, after: after ?? null, status: status ?? null });
    return { items: page.nodes, next: page.hasNextPage ? page.endCursor : null };
  });

  return fastify;
}
