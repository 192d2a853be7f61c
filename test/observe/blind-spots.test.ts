import { globSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { seriesList } from "../../src/core/parts/series-list.ts";

const root = new URL("../..", import.meta.url);

const CLASS = /\bclass (\w+)(\W[^{]*)\{/g;
/** The interfaces and base classes of stores, buses, links to servers and drivers. */
const ROLES =
  /\b(?:implements|extends)\b.*\b(?:KeyValueStore|CounterStore|PubSub|BusLink|RedisLink|ServerPubSub|\w*Driver)\b/s;
/** The names of pools, limits and queues. */
const NAMES =
  /(?:Queue|Pool|EventLoopTurns|Permits|Limiter|Budget|Load|Replica|ReplicaSet|Clients|Connections|InFlight|LaterWork|LogOutput|Subscription|Channel)$/;
/** The places that use one. */
const USES = /(#?\w+)(?:: [\w<>, ]+)? = new (?:Permits|EventLoopTurns|RecheckQueue)\b/g;

/** The members that a file declares. */
function membersIn(file: string, text: string): readonly string[] {
  const classes = [...text.matchAll(CLASS)].filter(
    ([, name = "", bases = ""]) => ROLES.test(bases) || NAMES.test(name),
  );
  return [...new Set([...classes, ...text.matchAll(USES)].map(([, name]) => `${file} ${name}`))];
}

/** The series that shows the state of each member, or the reason why none does. */
const seen: Readonly<Record<string, string>> = {
  "src/auth/passwords/hash-queue.ts HashQueue":
    "because those that wait are requests in flight, and a refusal is a 503",
  "src/core/work/batch-queue.ts BatchQueue": "because it is empty at the end of each turn of the event loop",
  "src/core/log/log-output.ts LogOutput": "portico_log_waiting_bytes",
  "src/core/work/event-loop-turns.ts EventLoopTurns": "because each of its uses is listed here",
  "src/core/work/event-loop-turns.ts eventTurns": "portico_bus_waiting_events",
  "src/core/work/event-loop-turns.ts workTurns": "because those that wait are requests in flight",
  "src/graphql/operation/loader.ts LoadQueue": "because it is empty at the end of each turn of the event loop",
  "src/graphql/streams/live-subscription.ts OwnSubscription": "portico_bus_waiting_events",
  "src/kernel/load/in-flight.ts InFlight": "http_server_active_requests",
  "src/kernel/context/later-work.ts LaterWork": "portico_later_work",
  "src/kernel/load/load.ts #turns": "portico_load_waiting_requests",
  "src/kernel/load/load.ts Load": "portico_load_limit",
  "src/kernel/identity/open-connections.ts #rechecks": "portico_live_connections_unchecked",
  "src/kernel/identity/open-connections.ts OpenConnections": "portico_live_connections",
  "src/kernel/identity/recheck-queue.ts RecheckQueue": "portico_live_connections_unchecked",
  "src/kernel/limits/budget.ts Budget": "because it belongs to one caller: a refusal is a 429",
  "src/http/serving/deadlines.ts Queue": "because it holds the deadlines of the requests in flight",
  "src/nats/nats-link.ts NatsLink": "portico_store_up",
  "src/nats/nats-pub-sub.ts NatsPubSub": "portico_store_up",
  "src/redis/redis-cluster.ts RedisCluster": "portico_store_up",
  "src/redis/redis-connection.ts RedisConnection": "portico_store_up",
  "src/redis/redis-counter.ts RedisCounter": "portico_store_up",
  "src/redis/redis-key-value.ts RedisKeyValue": "portico_store_up",
  "src/redis/redis-pub-sub.ts RedisPubSub": "portico_store_up",
  "src/sql/database/open-transaction.ts turn": "because the savepoints of one transaction take turns",
  "src/sql/database/permits.ts Permits": "because each of its uses is listed here",
  "src/sql/database/open/pooled-database.ts #transactions": "portico_db_transactions_waiting",
  "src/sql/database/open/pooled-database.ts Pool": "portico_db_transactions_open",
  "src/sql/database/open/reachable-postgres.ts ReachablePostgresDriver": "db_client_connection_count",
  "src/sql/database/postgres/watched-clients.ts WatchedClients": "db_client_connection_count",
  "src/sql/database/replicas/replica-reads.ts ReplicaReads": "portico_db_replica_up",
  "src/sql/database/replicas/replica-set.ts ReplicaSet": "portico_db_replica_up",
  "src/sql/database/replicas/replica.ts Replica": "portico_db_replica_up",
  "src/sql/database/sqlite-driver.ts #writing": "db_client_connection_pending_requests",
  "src/sql/database/sqlite-driver.ts SqliteDriver": "db_client_connection_count",
  "src/sql/guard/guarded-dialect.ts GuardedDriver": "because the driver inside it has the connections",
  "src/sql/outbox/outbox.ts OutboxPubSub": "portico_outbox_lag_seconds",
  "src/sql/outbox/kept-subscription.ts KeptSubscription": "portico_bus_waiting_events",
  "src/sql/prisma/prisma-dialect.ts PrismaDriver": "because Prisma has the connections, and its own metrics",
  "src/sql/stores/postgres-pub-sub.ts PostgresPubSub": "portico_store_up",
  "src/sql/stores/sql-counter.ts SqlCounter": "portico_store_up",
  "src/sql/stores/sql-key-value.ts SqlKeyValue": "portico_check_up",
  "src/stores/bus-channel.ts BusChannel": "portico_bus_waiting_events",
  "src/stores/memory-counter.ts MemoryCounter": "process_memory_usage_bytes",
  "src/stores/memory-key-value.ts MemoryKeyValue": "process_memory_usage_bytes",
  "src/stores/memory-pub-sub.ts MemoryPubSub": "portico_bus_waiting_events",
  "src/stores/server-pub-sub.ts ServerPubSub": "portico_bus_topics",
  "src/stores/subscription.ts Subscription": "portico_bus_waiting_events",
};

const found = globSync("src/**/*.ts", { cwd: root }).flatMap((file) =>
  membersIn(file, readFileSync(new URL(file, root), "utf8")),
);

it("every store, bus, link, driver, pool, limit and queue has a series, or a reason to have none", () => {
  expect(found.filter((member) => !Object.hasOwn(seen, member))).toEqual([]);
});

it("every entry of the table is in the source, and names a series or a reason", () => {
  expect(Object.keys(seen).filter((member) => !found.includes(member))).toEqual([]);
  expect(Object.values(seen).filter((by) => !Object.hasOwn(seriesList, by) && !by.startsWith("because "))).toEqual([]);
});

it.each([
  ["a store", "src/kafka/kafka-store.ts", "export class KafkaStore implements KeyValueStore {}", "KafkaStore"],
  ["a bus", "src/kafka/kafka-bus.ts", "export class KafkaBus extends ServerPubSub {}", "KafkaBus"],
  [
    "a limit",
    "src/mail/mailer.ts",
    "class Mailer {\n  readonly #sending: Permits = new Permits(4, 1, '');\n}",
    "#sending",
  ],
  ["a queue", "src/mail/mail-queue.ts", "export class MailQueue {}", "MailQueue"],
  ["a pool", "src/sql/mariadb-pool.ts", "export class MariadbPool {}", "MariadbPool"],
])("would find %s that has none", (_, file, text, name) => {
  expect(membersIn(file, text)).toEqual([`${file} ${name}`]);
  expect(seen).not.toHaveProperty([`${file} ${name}`]);
});
