import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { migrate, migrationStatus } from "../sql/migrations/migrate.ts";
import type { MigrateOptions } from "../sql/migrations/migration.ts";
import { type Call, type Command, CommandFailed, textValue } from "./command.ts";

const FILE = { migrations: { type: "string" }, "without-users": { type: "boolean" } } as const;

/** `portico migrate ...` */
export const migrateCommands: readonly Command[] = [
  {
    name: "migrate up",
    usage: "[--migrations <file>] [--without-users]",
    summary: "apply the pending migrations",
    words: 0,
    options: FILE,
    run: (call) => move(call, "up", "applied"),
  },
  {
    name: "migrate down",
    usage: "[--all] [--migrations <file>] [--without-users]",
    summary: "revert the last migration, or all of them, and delete the data in their tables",
    words: 0,
    options: { all: { type: "boolean" }, ...FILE },
    run: (call) => move(call, call.values["all"] === true ? "down all" : "down", "reverted"),
  },
  {
    name: "migrate status",
    usage: "[--migrations <file>] [--without-users]",
    summary: "list the migrations and when each was applied",
    words: 0,
    options: FILE,
    async run(call) {
      for (const { name, appliedAt } of await migrationStatus(call.database, await optionsOf(call)))
        call.say(`${name}  ${appliedAt === null ? "pending" : appliedAt.toISOString()}`);
    },
  },
];

async function move(call: Call, direction: "up" | "down" | "down all", did: string): Promise<void> {
  const names = await migrate(call.database, direction, await optionsOf(call));
  for (const name of names) call.say(`${did} ${name}`);
  if (names.length === 0) call.say("nothing to do");
}

/** Reads the application's migrations from the export `migrations` or the default export of the file. */
async function optionsOf(call: Call): Promise<MigrateOptions> {
  const users = call.values["without-users"] !== true;
  const file = textValue(call, "migrations");
  if (file === undefined) return { users };
  const module = (await import(pathToFileURL(resolve(file)).href)) as Readonly<Record<string, unknown>>;
  const migrations = module["migrations"] ?? module["default"];
  if (!Array.isArray(migrations))
    throw new CommandFailed(`${file} must export a list of migrations, as "migrations" or as the default export`);
  return { migrations, users };
}
