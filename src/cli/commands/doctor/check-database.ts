import type { Database } from "../../../sql/database/database.ts";
import type { Migration } from "../../../sql/migrations/migration.ts";
import { migrationFault } from "../../../startup-faults.ts";
import { sentenceOf } from "../../output/sentence-of.ts";
import type { PorticoConfig } from "../../project/portico-config.ts";
import { attempt, type Finding, failed, ok, warning } from "./finding.ts";

/** Checks that the database and its replicas respond, that it accepts writes, and that it has all migrations. */
export async function checkDatabase(
  open: () => Promise<Database>,
  { migrations = [], userTables: users = true }: PorticoConfig,
): Promise<readonly Finding[]> {
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
      const options = { users, migrations: migrations as unknown as readonly Migration[] };
      return judge(await migrationStatus(await open(), options));
    })),
    ...(await attempt("pooler", async () => checkPooler(await open()))),
    ...(await attempt("replicas", async () => checkReplicas(await open()), { seconds: 12 })),
    // The last one, because a locked SQLite database keeps its connection busy for longer.
    ...(await attempt("writes", async () => checkWrites(await open()), { fix: WRITES_FIX })),
  ];
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
