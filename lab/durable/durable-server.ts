import { sql } from "kysely";
import { field, Graph, schema, subscription, t } from "../../src/graphql/index.ts";
import { PorticoApp } from "../../src/portico-app.ts";
import { consume, type Database, openDatabase, sqlStores, transaction } from "../../src/sql/index.ts";
import { topic } from "../../src/stores/pub-sub.ts";

/** The settings of a server process. */
export interface DurableServerSettings {
  readonly url: string;
}

/** An event: the `n`-th change of a group. The lock on the row of the group gives the changes their order. */
interface Change {
  readonly group: string;
  readonly n: number;
}

// A process of `npm run durable`. It writes changes with their events, follows them, and handles them.
const { url } = JSON.parse(process.argv[2] ?? "") as DurableServerSettings;
const changed = topic<Change>("durable.changed", { keep: "1h" });
const database: Database<any> = openDatabase<any>(url, { poolSize: 6 });
const app = new PorticoApp({
  logger: { level: "silent" },
  openapi: false,
  cursorKeys: ["the positions of npm run durable, 0123456789abcdef"],
  // A busy machine must not make the servers shed load.
  load: { report: true },
  stores: sqlStores(database),
  shutdown: { signals: [] },
});

app.post("/groups/:group", { params: { trx: transaction(database) } }, async ({ ctx, trx, path: { group } }) => {
  const { rows } = await sql<{ n: number }>`
    update durable_groups set n = n + 1 where name = ${group} returning n`.execute(trx);
  const n = Number(rows[0]?.n);
  await ctx.pubsub.publish(changed, { group, n });
  return { n };
});

const key = ({ group }: Change): string => group;
// At least once: repeated events are counted, in the order in which they arrive.
app.consume(
  consume(changed, "log", { key }, async ({ group, n }) => {
    await sql`insert into durable_log (name, n) values (${group}, ${n})`.execute(database);
  }),
);
// Exactly once: a second row would break the primary key.
app.consume(
  consume(changed, "ledger", { key, transactional: database }, async ({ group, n }, { trx }) => {
    await sql`insert into durable_ledger (name, n) values (${group}, ${n})`.execute(trx);
  }),
);

const Event = t.string;
const changes = subscription(Event, { params: { group: t.string }, from: () => changed })(({ event, group }) =>
  event.group === group ? `${group} ${event.n}` : undefined,
);
new Graph(schema({ query: { ok: field(t.boolean)(() => true) }, subscription: { changes } })).mount(app);

const { port } = await app.listen({ port: 0, host: "127.0.0.1" });
process.send?.({ port });
process.on("disconnect", () => process.exit(0));
