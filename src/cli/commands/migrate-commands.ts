import { resolve } from "node:path";
import type { Command } from "commander";
import type { Migration } from "../../sql/migrations/migration.ts";
import type { MigrateOptions } from "../../sql/migrations/migration-steps.ts";
import { CommandFailed } from "../output/command-failed.ts";
import type { Result } from "../output/result.ts";
import { tableLines } from "../output/table-lines.ts";
import { importModule } from "../project/load-config.ts";
import type { Project } from "../project/project.ts";
import { type Confirmable, confirmable, confirmed } from "./confirmed.ts";
import type { Call, RunCommand } from "./runner.ts";

interface MigrateFlags {
  readonly migrations?: string;
  readonly withoutUsers?: boolean;
}

interface DownFlags extends MigrateFlags, Confirmable {
  readonly all?: boolean;
}

/** `portico migrate` */
export function migrateCommands(program: Command, run: RunCommand): void {
  const group = program.command("migrate").description("Applies, reverts and lists the migrations of the database.");
  const add = (name: string, description: string): Command =>
    group
      .command(name)
      .description(description)
      .option("--migrations <file>", "a module that exports your migrations (default: those of the configuration)")
      .option("--without-users", "leave out the tables of userModel");
  add("up", "Applies the pending migrations, and defines the roles of the configuration.").action(run(up));
  confirmable(add("down", "Reverts the last migration and deletes the data in its tables."))
    .option("--all", "revert all migrations")
    .action(run(down));
  add("status", "Lists the migrations and when each was applied.").action(run(status));
}

async function up(call: Call<MigrateFlags>): Promise<Result> {
  const { migrate } = await import("../../sql/migrations/migrate.ts");
  const applied = await migrate(await call.project.database(), "up", await optionsOf(call));
  const roles = call.options.withoutUsers === true ? [] : await defineRoles(call.project, call.options.database);
  const done = [...applied.map((name) => `applied ${name}`), ...roles.map((name) => `defined the role ${name}`)];
  return { data: { applied, roles }, lines: done.length === 0 ? ["nothing to do"] : done };
}

/** Defines the roles of the configuration that are missing or different, and returns their names. */
async function defineRoles(project: Project, otherDatabase: string | undefined): Promise<readonly string[]> {
  const { roles = {} } = await project.config();
  if (Object.keys(roles).length === 0) return [];
  const { userModel } = await import("../../sql/users/user-model.ts");
  // The events of another database than that of the application would reach no process.
  const { objects } = otherDatabase === undefined ? await project.users() : userModel(await project.database());
  const before = new Map((await objects.roles()).map((role) => [role.name, role.permissions]));
  const changed = Object.keys(roles).filter((name) => !isSame(before.get(name), roles[name] ?? []));
  for (const name of changed) await objects.defineRole(name, roles[name] ?? []);
  return changed;
}

function isSame(before: readonly string[] | undefined, now: readonly string[]): boolean {
  const wanted = new Set(now);
  return before !== undefined && before.length === wanted.size && before.every((name) => wanted.has(name));
}

async function down(call: Call<DownFlags>): Promise<Result> {
  const { migrate, migrationStatus } = await import("../../sql/migrations/migrate.ts");
  const [database, options] = [await call.project.database(), await optionsOf(call)];
  const found = await migrationStatus(database, options);
  const applied = found.filter(({ appliedAt }) => appliedAt !== null).map(({ name }) => name);
  const doomed = applied.toReversed().slice(0, call.options.all === true ? applied.length : 1);
  if (doomed.length > 0) await confirmed(call, `This reverts ${doomed.join(", ")} and deletes the data in the tables.`);
  const reverted = await migrate(database, call.options.all === true ? "down all" : "down", options);
  const lines = reverted.map((name) => `reverted ${name}`);
  return { data: { reverted }, lines: lines.length === 0 ? ["nothing to do"] : lines };
}

async function status(call: Call<MigrateFlags>): Promise<Result> {
  const { migrationStatus } = await import("../../sql/migrations/migrate.ts");
  const migrations = await migrationStatus(await call.project.database(), await optionsOf(call));
  const rows = migrations.map(({ name, appliedAt }) => ({ name, appliedAt: appliedAt ?? "pending" }));
  const lines =
    rows.length === 0 ? ["no migrations"] : tableLines(rows, { name: "migration", appliedAt: "applied" }, call.width);
  return { data: { migrations }, lines };
}

/** The migrations of the file that was named, or those of the configuration. */
async function optionsOf({ options, project, cwd }: Call<MigrateFlags>): Promise<MigrateOptions> {
  const config = await project.config();
  const users = options.withoutUsers !== true && config.userTables !== false;
  const file = options.migrations;
  if (file === undefined) return { users, migrations: (config.migrations ?? []) as unknown as readonly Migration[] };
  const module = await importModule(cwd, resolve(cwd, file));
  const migrations = module["migrations"] ?? module["default"];
  if (!Array.isArray(migrations))
    throw new CommandFailed(`${file} must export a list of migrations, as "migrations" or as the default export`);
  return { migrations, users };
}
