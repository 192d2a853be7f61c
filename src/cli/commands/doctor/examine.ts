import { type SecretReport, secretReports } from "../../../core/secret-report.ts";
import { checkPaths } from "../../../http/routing/check-paths.ts";
import { isServed } from "../../../http/routing/is-served.ts";
import { reportGates } from "../../../http/routing/report-gates.ts";
import { Paging } from "../../../kernel/pages/paging.ts";
import type { PorticoApp } from "../../../portico-app.ts";
import { UsageError } from "../../output/command-failed.ts";
import { countText } from "../../output/count-text.ts";
import type { Result } from "../../output/result.ts";
import { tableLines } from "../../output/table-lines.ts";
import type { PorticoConfig } from "../../project/portico-config.ts";
import type { Call } from "../runner.ts";
import { checkAddresses } from "./check-addresses.ts";
import { checkDatabase } from "./check-database.ts";
import { checkGraphs } from "./check-graphs.ts";
import { checkRuntime } from "./check-runtime.ts";
import { checkSecrets } from "./check-secrets.ts";
import { checkStores } from "./check-stores.ts";
import type { DoctorFlags } from "./doctor-command.ts";
import { attempt, type Finding, notChecked, ok, warning } from "./finding.ts";
import { keptLog } from "./kept-log.ts";

/** Runs all checks. Each has its own time limit, so a server that does not respond delays the result by a few seconds. */
export async function examine(call: Call<DoctorFlags>): Promise<Result> {
  // The time limits alone do not keep the process alive.
  const alive = setInterval(() => {}, 60_000);
  const found = await findings(call);
  clearInterval(alive);
  const shown = found.map((finding) => ({ ...finding, message: redact(finding.message, call.env) }));
  const count = (level: Finding["level"]): number => shown.filter((finding) => finding.level === level).length;
  const counts = {
    ok: count("ok"),
    warnings: count("warning"),
    failed: count("failed"),
    notChecked: count("not checked"),
  };
  return {
    data: { ...counts, checks: shown },
    lines: [
      ...tableLines(shown, { level: "level", check: "check", message: "finding" }, call.width),
      "",
      `${counts.ok} ok, ${counts.warnings} warnings, ${counts.failed} failed, ${counts.notChecked} not checked`,
    ],
    code: counts.failed > 0 || (call.options.check === true && counts.notChecked > 0) ? 1 : 0,
  };
}

async function findings(call: Call<object>): Promise<readonly Finding[]> {
  const { project, env } = call;
  const reports: SecretReport[] = [];
  const listen = (report: unknown): void => {
    reports.push(report as SecretReport);
  };
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
  const [application, database] = await Promise.all([
    isLoaded ? examineApp(call, reports) : [],
    examineDatabase(call, isLoaded),
  ]);
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

/** An application may have no database, or one that this command does not know. */
async function examineDatabase(
  { project, options, env }: Call<object>,
  isLoaded: boolean,
): Promise<readonly Finding[]> {
  const config = await project.config().catch((): PorticoConfig => ({}));
  if (config.database === false && options.database === undefined) return [];
  const named = options.database ?? config.database ?? config.users ?? (env["DATABASE_URL"] || undefined);
  if (named === undefined) return [notChecked("database", NO_DATABASE)];
  const app = isLoaded ? await project.app().catch(() => null) : null;
  return checkDatabase(() => project.database(), config, app);
}

const NO_DATABASE =
  "no database is named. Add it to portico.config as `database`, or `database: false` if the application has none";

/** Removes passwords in URLs, and the values of environment variables that hold secrets. */
function redact(text: string, env: Readonly<Record<string, string | undefined>>): string {
  const secrets = Object.entries(env).flatMap(([name, value = ""]) =>
    SECRET_NAME.test(name) && value.length >= MIN_LENGTH ? [value] : [],
  );
  return secrets.reduce((shown, secret) => shown.replaceAll(secret, "***"), text.replace(CREDENTIALS, "$1***@"));
}

const SECRET_NAME = /SECRET|PASSWORD|TOKEN|KEY/i;
/** A shorter value may be an ordinary word. */
const MIN_LENGTH = 8;
const CREDENTIALS = /(:\/\/)[^\s/@]*@/g;

/** Runs the checks of the startup, without starting the application. */
function checkStartup(app: PorticoApp): readonly Finding[] {
  const { table, settings } = app;
  const said: string[] = [];
  const log = keptLog(said);
  checkPaths(table.routes, table.sockets);
  app.openapi();
  new Paging(settings.cursorKeys, log, settings.publicUrl !== null).check(table.routes);
  reportGates(log, table);
  const routes = countText(table.routes.filter(isServed).length, "route");
  return [
    ok("application", `${settings.title} is built: ${routes}, ${countText(table.sockets.length, "socket")}`),
    ...said.map((sentence) => warning("application", sentence)),
  ];
}
