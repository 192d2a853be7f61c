import { identify, PorticoApp } from "portico";
import { SimpleUser } from "portico/auth";
import { field, Graph, mutation, type ObjectType, object, schema, t } from "portico/graphql";
import { openDatabase, type PorticoTables, type Transaction, transaction } from "portico/sql";
import { z } from "zod";

// One process of the application of the run. It takes orders over a route and a mutation.

export interface OrderServerSettings {
  readonly url: string;
  readonly cursorKeys: string;
  /** 0 lets the system choose. */
  readonly port: number;
}

interface Tables extends PorticoTables {
  orders: { id: string; book: string };
}

const { url, cursorKeys, port } = JSON.parse(process.argv[2] ?? "") as OrderServerSettings;
const database = openDatabase<Tables>(url, { poolSize: 5 });
const inTransaction = transaction(database);

/** Dies where the client says, so that every step is hit often enough. */
function dieAt(step: "work" | "commit", crash: string | undefined): void {
  if (crash === step) process.kill(process.pid, "SIGKILL");
}

async function placeOrder(trx: Transaction<Tables>, book: string, crash: string | undefined) {
  const order = { id: crypto.randomUUID(), book };
  await trx.insertInto("orders").values(order).execute();
  dieAt("work", crash);
  trx.afterCommit(() => dieAt("commit", crash));
  return order;
}

const app = new PorticoApp({
  cursorKeys,
  logger: { level: "fatal" },
  // A busy machine must not make the servers shed load.
  load: { report: true },
});
app.use(async (ctx, next) => {
  identify(ctx, { user: new SimpleUser(ctx.request.headers["x-user"] ?? ""), auth: "apikey" });
  await next();
});
app.post(
  "/orders",
  {
    auth: true,
    body: z.object({ book: z.string() }),
    response: { 201: z.object({ id: z.string(), book: z.string() }) },
    params: { trx: inTransaction },
    idempotent: inTransaction,
  },
  async ({ trx, body, request, response }) =>
    response.status(201).json(await placeOrder(trx, body.book, request.headers["x-crash"])),
);
const Order: ObjectType<{ id: string; book: string }> = object("Order", {
  id: t.id,
  book: t.string,
  // A partial error is a part of the stored response.
  margin: field(t.nullable(t.int), { auth: (user) => user.hasPermission("read:margins") })(() => 1),
});
const order = mutation(Order, {
  params: { book: t.string, trx: inTransaction },
  auth: true,
  idempotent: inTransaction,
})(({ trx, book, ctx }) => placeOrder(trx, book, ctx.request.headers["x-crash"]));
new Graph(schema({ query: { up: field(t.boolean)(() => true) }, mutation: { order } })).mount(app);
const address = await app.listen({ port });
process.send?.({ port: address.port });
