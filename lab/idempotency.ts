import { randomBytes } from "node:crypto";
import { parseArgs } from "node:util";
import { idempotencyMigration, migrate, openDatabase, type PorticoTables } from "portico/sql";
import { OrderFleet } from "./idempotency/order-fleet.ts";
import { type Seen, sendOrder } from "./idempotency/send-order.ts";
import { ownSchema } from "./servers/own-schema.ts";

// npm run idempotency -- [--keys 1000] [--clients 50] [--processes 4] [--short] [--unprotected]
// Places orders with an idempotency key each. Many clients send every order at once to processes that die in the middle of the
// work, between the commit and the response, and at random moments. Fails unless each order exists exactly once, and all responses
// to it other than 409 and 503 are equal. --unprotected gives each request its own key, so that the run must find faults.

const { values } = parseArgs({
  options: {
    keys: { type: "string" },
    clients: { type: "string" },
    processes: { type: "string", default: "4" },
    short: { type: "boolean", default: false },
    unprotected: { type: "boolean", default: false },
  },
});
const keys = Number(values.keys ?? (values.short ? 60 : 1_000));
const clients = Number(values.clients ?? (values.short ? 20 : 50));
const processes = Number(values.processes);

interface Tables extends PorticoTables {
  orders: { id: string; book: string };
}

/** The number of orders that are placed at the same time. */
const AT_ONCE = 10;
/** After so many responses, another process is killed. Not after a time, in which a busy machine may not start one. */
const KILL_EVERY = 150;

const schema = await ownSchema(`idempotency_${randomBytes(6).toString("hex")}`);
const database = openDatabase<Tables>(schema.url);
let fleet: OrderFleet | undefined;
try {
  await migrate(database, "up", { migrations: [idempotencyMigration] });
  await database.schema
    .createTable("orders")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("book", "text")
    .execute();
  fleet = await OrderFleet.start(processes, { url: schema.url, cursorKeys: randomBytes(32).toString("base64") });
  const { ports } = fleet;
  let sent = 0;
  const portOf = (): number => ports[sent++ % ports.length] as number;
  const totals = { responses: 0, conflicts: 0, unavailable: 0, lost: 0, differing: 0 };
  const crashes = { work: 0, commit: 0 };
  let next = 0;
  const placeOrders = async (): Promise<void> => {
    for (let index = next++; index < keys; index = next++) {
      const seen: Seen = { responses: new Map(), retries: { conflicts: 0, unavailable: 0, lost: 0 } };
      const isMutation = index % 2 === 1;
      const dying = index % 20;
      await Promise.all(
        Array.from({ length: clients }, (_, client) => {
          const crash = client < 3 && dying < 4 ? (dying < 2 ? "work" : "commit") : null;
          if (crash !== null) crashes[crash]++;
          const key = values.unprotected ? `order-${index}-${client}` : `order-${index}`;
          const user = `user-${index % 7}`;
          return sendOrder({ key, user, isMutation, crash }, portOf, seen).then(() => {
            if (++totals.responses % KILL_EVERY === 0) fleet?.kill((totals.responses / KILL_EVERY) % processes);
          });
        }),
      );
      const { responses, retries } = seen;
      if (responses.size > 1) {
        totals.differing++;
        console.log(`fault: order-${index} has ${responses.size} responses, such as ${[...responses.keys()][1]}`);
      }
      for (const name of ["conflicts", "unavailable", "lost"] as const) totals[name] += retries[name];
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, placeOrders));
  const books = await database.selectFrom("orders").select("book").execute();
  const counts = Object.values(Object.groupBy(books, ({ book }) => book)).map((rows) => rows?.length ?? 0);
  const doubled = counts.filter((count) => count > 1).length;
  const missing = keys - counts.length;
  console.log(
    `${totals.responses} responses, ${totals.conflicts} times 409, ${totals.unavailable} times 503, ${totals.lost} connections lost; ` +
      `${fleet.deaths} processes died; requests to die: ${crashes.work} in the work, ${crashes.commit} after the commit`,
  );
  console.log(
    `idempotency: ${keys} keys x ${clients} clients on ${processes} processes, ${missing} orders missing, ${doubled} placed twice, ` +
      `${totals.differing} with differing responses`,
  );
  if (missing !== 0 || doubled > 0 || totals.differing > 0) process.exitCode = 1;
} finally {
  fleet?.stop();
  await database.destroy();
  await schema.drop();
}
