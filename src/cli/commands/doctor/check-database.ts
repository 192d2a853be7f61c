import type { PorticoApp } from "../../../portico-app.ts";
import type { Database } from "../../../sql/database/database.ts";
import type { Migration } from "../../../sql/migrations/migration.ts";
import { migrationChecks, migrationFault } from "../../../startup-faults.ts";
import { outboxOf } from "../../../stores/outbox.ts";
import { sentenceOf } from "../../output/sentence-of.ts";
import type { PorticoConfig } from "../../project/portico-config.ts";
import { attempt, type Finding, failed, ok, warning } from "./finding.ts";

/**
 * Checks that the database and its replicas respond, that it accepts writes, and that it has all migrations.
 *
 * @param app the application, or `null` if it could not be built
 */
export async function checkDatabase(
  given: () => Promise<Database>,
  config: PorticoConfig,
  app: PorticoApp | null,
): Promise<readonly Finding[]> {
  const open = async (): Promise<Database> => {
    const { asPortico } = await import("../../../sql/guard/acting-handles.ts");
    return asPortico(await given());
  };
  const reached = await attempt(
    "database",
    async () => {
      const [database, { databaseVersion }] = await Promise.all([
        open(),
        import("../../../sql/database/database-version.ts"),
      ]);
      await database.ping();
      return ok("database", `${await databaseVersion(database)} responds`);
    },
    { fix: "Check the URL in DATABASE_URL or portico.config, and that the server runs" },
  );
  if (reached.some(({ level }) => level === "failed")) return reached;
  return [
    ...reached,
    ...(await attempt("migrations", async () => {
      const { migrationStatus } = await import("../../../sql/migrations/migrate.ts");
      const { migrations = [], userTables: users = true } = config;
      const options = { users, migrations: migrations as unknown as readonly Migration[] };
      const found = await migrationStatus(await open(), options);
      const isNew = found.every(({ appliedAt }) => appliedAt === null);
      if (isNew && app !== null && !(await usesTables(app, config)))
        return ok("migrations", "the application uses no tables of Portico, so none are needed");
      return judge(found);
    })),
    ...(await attempt("pooler", async () => checkPooler(await open()))),
    ...(await attempt("time zone", async () => checkTimeZone(await open()))),
    ...(await attempt("outbox", async () => checkOutbox(await open()))),
    ...(await attempt("replicas", async () => checkReplicas(await open()), { seconds: 12 })),
    // The last one, because a locked SQLite database keeps its connection busy for longer.
    ...(await attempt("writes", async () => checkWrites(await open()), { fix: WRITES_FIX })),
  ];
}

/** Whether the configuration or the application names anything that is kept in Portico's tables. */
async function usesTables({ table, stores }: PorticoApp, config: PorticoConfig): Promise<boolean> {
  const { migrations = [], roles = {}, users } = config;
  if (users !== undefined || migrations.length > 0 || Object.keys(roles).length > 0) return true;
  if (migrationChecks(table).length > 0 || outboxOf(stores.bus) !== undefined) return true;
  const [{ SqlKeyValue }, { SqlCounter }] = await Promise.all([
    import("../../../sql/stores/sql-key-value.ts"),
    import("../../../sql/stores/sql-counter.ts"),
  ]);
  return stores.durable instanceof SqlKeyValue || stores.counters instanceof SqlCounter;
}

const WRITES_FIX =
  "The database responds but accepts no writes. Check that its disk has space, and that it is neither locked nor a replica";

/** A database that responds may still be read-only, locked or without space. */
async function checkWrites(database: Database): Promise<readonly Finding[]> {
  const { poolOf } = await import("../../../sql/database/open/pooled-database.ts");
  await poolOf(database)?.probe();
  return [ok("writes", "the database accepts writes")];
}

async function checkPooler(database: Database): Promise<readonly Finding[]> {
  if (database.engine !== "postgres") return [];
  const { losesStatements } = await import("../../../sql/database/postgres/loses-statements.ts");
  if (!(await losesStatements(database))) return [];
  return [
    warning(
      "pooler",
      "a pooler shares connections between clients and loses named statements, so each process stops using them after the first loss: set namedStatements: false in openDatabase, or max_prepared_statements of PgBouncer 1.21 or later",
    ),
  ];
}

async function checkTimeZone(database: Database): Promise<readonly Finding[]> {
  const { shiftedColumns } = await import("../../../sql/database/postgres/shifted-columns.ts");
  const columns = await shiftedColumns(database);
  if (columns.length === 0) return [];
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  return [
    failed(
      "time zone",
      `times in ${columns.join(", ")} have no time zone, and this process reads and writes them in ${timeZone}: set TZ=UTC, or change the columns to timestamptz`,
    ),
  ];
}

/** Reports what delays or blocks the events of durable topics. Without their tables, the migrations are reported. */
async function checkOutbox(database: Database): Promise<readonly Finding[]> {
  const { hasOutbox } = await import("../../../sql/outbox/event-table.ts");
  if (!(await hasOutbox(database))) return [];
  const [{ EventTable }, { oldestWrite }, { describeWrite }, { listFailedEvents }] = await Promise.all([
    import("../../../sql/outbox/event-table.ts"),
    import("../../../sql/outbox/settled-reader.ts"),
    import("../../../sql/outbox/relay.ts"),
    import("../../../sql/outbox/failed-events.ts"),
  ]);
  const open = await oldestWrite(database);
  const aside = (await listFailedEvents(database, MAX_LISTED)).filter(({ isSetAside }) => isSetAside);
  const consumers = [...new Set(aside.map(({ consumer }) => consumer))].join(", ");
  const megabytes = ((await new EventTable(database).bytes()) / 1_000_000).toFixed(1);
  return [
    ...(open !== null && open.seconds > SLOW_SECONDS
      ? [
          warning(
            "outbox",
            `a write transaction delays the events of all processes: ${describeWrite(open)}. Commit it, or set idle_in_transaction_session_timeout`,
          ),
        ]
      : [ok("outbox", `events take ${megabytes} MB, and no long write transaction delays them`)]),
    ...(aside.length > 0
      ? [
          warning(
            "outbox",
            `events of ${consumers} were set aside: see portico events list, then run portico events retry`,
          ),
        ]
      : []),
  ];
}

const MAX_LISTED = 100;
/** An older write transaction was probably forgotten. */
const SLOW_SECONDS = 5;

async function checkReplicas(database: Database): Promise<readonly Finding[]> {
  const { poolOf } = await import("../../../sql/database/open/pooled-database.ts");
  const found = (await poolOf(database)?.replicas?.examine()) ?? [];
  return found.map(({ name, problem }) =>
    problem === null
      ? ok("replicas", `${name} responds and is not too far behind`)
      : warning("replicas", `${name} can't be used, so the primary serves its reads: ${sentenceOf(problem)}`),
  );
}

function judge(found: readonly { readonly name: string; readonly appliedAt: Date | null }[]): Finding {
  const pending = found.filter(({ appliedAt }) => appliedAt === null).map(({ name }) => name);
  return pending.length === 0
    ? ok("migrations", `all ${found.length} migrations are applied`)
    : failed("migrations", migrationFault(pending).rule);
}
