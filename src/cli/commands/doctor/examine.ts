import { type SecretReport, secretReports } from "../../../core/secret-report.ts";
import type { PorticoApp } from "../../../portico-app.ts";
import { UsageError } from "../../command-failed.ts";
import type { Result } from "../../output/result.ts";
import { tableLines } from "../../output/table.ts";
import type { PorticoConfig } from "../../project/portico-config.ts";
import type { Call } from "../../runner.ts";
import { checkAddresses } from "./check-addresses.ts";
import { checkDatabase } from "./check-database.ts";
import { checkGraphs } from "./check-graphs.ts";
import { checkRuntime } from "./check-runtime.ts";
import { checkSecrets } from "./check-secrets.ts";
import { checkStartup } from "./check-startup.ts";
import { checkStores } from "./check-stores.ts";
import { attempt, type Finding, ok } from "./finding.ts";
import { redact } from "./redact.ts";

/** Runs all checks. Each has its own time limit, so a server that does not respond delays the result by a few seconds. */
export async function examine(call: Call<object>): Promise<Result> {
  // The time limits alone do not keep the process alive.
  const alive = setInterval(() => {}, 60_000);
  const found = await findings(call);
  clearInterval(alive);
  const shown = found.map((finding) => ({ ...finding, message: redact(finding.message, call.env) }));
  const count = (level: Finding["level"]): number => shown.filter((finding) => finding.level === level).length;
  const counts = { ok: count("ok"), warnings: count("warning"), failed: count("failed") };
  return {
    data: { ...counts, checks: shown },
    lines: [
      ...tableLines(shown, { level: "level", check: "check", message: "finding" }),
      "",
      `${counts.ok} ok, ${counts.warnings} warnings, ${counts.failed} failed`,
    ],
    code: counts.failed > 0 ? 1 : 0,
  };
}

async function findings(call: Call<object>): Promise<readonly Finding[]> {
  const { project, env } = call;
  const reports: SecretReport[] = [];
  const listen = (report: unknown): void => void reports.push(report as SecretReport);
  secretReports.subscribe(listen);
  const loaded = await attempt(
    "configuration",
    async () => {
      const config = await project.config();
      if (config.app !== undefined) return ok("configuration", "the configuration is loaded");
      throw new UsageError("no application: create portico.config.ts with `export default { app: () => app }`");
    },
    { seconds: 10 },
  );
  const isLoaded = loaded.every(({ level }) => level === "ok");
  const [application, database] = await Promise.all([isLoaded ? examineApp(call, reports) : [], examineDatabase(call)]);
  secretReports.unsubscribe(listen);
  return [...checkRuntime(env), ...loaded, ...application, ...database];
}

async function examineApp(
  { project, cwd }: Call<object>,
  reports: readonly SecretReport[],
): Promise<readonly Finding[]> {
  let app: PorticoApp | null = null;
  const built = await attempt(
    "application",
    async () => {
      app = await project.app();
      return checkStartup(app);
    },
    { seconds: 10 },
  );
  if (app === null || built.some(({ level }) => level === "failed")) return built;
  const known: PorticoApp = app;
  const stores = checkStores(known);
  return [
    ...built,
    ...checkSecrets(reports, known.settings.cursorKeys),
    ...checkAddresses(known),
    ...(await checkGraphs(known, cwd)),
    ...(await stores),
  ];
}

/** An application may have no database. */
async function examineDatabase({ project, options, env }: Call<object>): Promise<readonly Finding[]> {
  const config = await project.config().catch((): PorticoConfig => ({}));
  const named = options.database ?? config.database ?? config.users ?? (env["DATABASE_URL"] || undefined);
  return named === undefined ? [] : checkDatabase(() => project.database(), config);
}
