import type { Database } from "../../../sql/database/database.ts";
import type { Migration } from "../../../sql/migrations/migration.ts";
import { sentenceOf } from "../../output/sentence-of.ts";
import type { PorticoConfig } from "../../project/portico-config.ts";
import { attempt, type Finding, failed, ok, warning } from "./finding.ts";

/** Checks that the database and its replicas respond, and that it has all migrations. */
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
    ...(await attempt("replicas", async () => checkReplicas(await open()), { seconds: 12 })),
  ];
}

async function checkReplicas(database: Database): Promise<readonly Finding[]> {
  const { poolOf } = await import("../../../sql/database/pooled-database.ts");
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
    : failed("migrations", `${pending.length} migrations are pending: ${pending.join(", ")}. Run portico migrate up`);
}
