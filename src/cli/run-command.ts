import { type ParseArgsOptionsConfig, parseArgs } from "node:util";
import { PorticoError } from "../core/error.ts";
import type { Database } from "../sql/database/database.ts";
import { openDatabase } from "../sql/database/open-database.ts";
import { sqlStores } from "../sql/stores/sql-stores.ts";
import { closeStores } from "../stores/run-stores.ts";
import type { Stores } from "../stores/stores.ts";
import { type Call, type Command, CommandFailed, type Surroundings } from "./command.ts";
import { keysCommands } from "./keys-commands.ts";
import { migrateCommands } from "./migrate-commands.ts";
import { userCommands } from "./user-commands.ts";

const commands: readonly Command[] = [...migrateCommands, ...userCommands, ...keysCommands];

const shared: ParseArgsOptionsConfig = {
  database: { type: "string" },
  redis: { type: "string" },
  "redis-prefix": { type: "string" },
  help: { type: "boolean", short: "h" },
};

/**
 * Runs `portico <words>` and gives the exit code: 0 when it is done, 1 when it failed, 2 when it was not understood.
 */
export async function runCommand(args: readonly string[], surroundings: Surroundings): Promise<number> {
  const { say, complain, env } = surroundings;
  if (args.length === 0 || isHelp(args[0])) {
    for (const line of help()) (args.length === 0 ? complain : say)(line);
    return args.length === 0 ? 2 : 0;
  }
  const command = commands.find(({ name }) => name === args.slice(0, name.split(" ").length).join(" "));
  if (command === undefined)
    return misunderstood(complain, `there is no command ${JSON.stringify(args.slice(0, 2).join(" "))}`);
  const read = readArguments(command, args);
  if (typeof read === "string") return misunderstood(complain, read, command);
  if (read.values["help"] === true) {
    for (const line of helpOf(command)) say(line);
    return 0;
  }
  const url = read.values["database"] ?? env["DATABASE_URL"];
  if (typeof url !== "string" || url === "")
    return misunderstood(complain, "which database? Give --database <url>, or set DATABASE_URL", command);
  return work(command, { ...surroundings, ...read }, url);
}

async function work(command: Command, call: Omit<Call, "database" | "stores">, url: string): Promise<number> {
  let opened: Stores | undefined;
  let database: Database | undefined;
  try {
    const own = openDatabase(url, { poolSize: 2 });
    database = own;
    const redis = call.values["redis"] ?? call.env["REDIS_URL"];
    const stores = async (): Promise<Stores> =>
      (opened ??=
        typeof redis === "string" && redis !== ""
          ? (await import("../redis/redis-stores.ts")).redisStores(redis, prefixOf(call))
          : sqlStores(own));
    // Names come from users: what is no text could be a command to the terminal.
    const say = (line: string): void => call.say(line.replace(/\p{C}+/gu, ""));
    await command.run({ ...call, say, database: own, stores });
    return 0;
  } catch (error) {
    call.complain(`portico: ${sentenceOf(error)}`);
    return 1;
  } finally {
    if (opened !== undefined) await closeStores(opened).catch(() => {});
    await database?.destroy();
  }
}

function prefixOf({ values, env }: Pick<Call, "values" | "env">): { readonly prefix?: string } {
  const prefix = values["redis-prefix"] ?? env["REDIS_PREFIX"];
  return typeof prefix === "string" && prefix !== "" ? { prefix } : {};
}

/** The words and values, or what is wrong with them. */
function readArguments(
  { name, words, options }: Command,
  args: readonly string[],
): Pick<Call, "words" | "values"> | string {
  try {
    const { positionals, values } = parseArgs({
      args: args.slice(name.split(" ").length),
      options: { ...shared, ...options },
      allowPositionals: true,
    });
    if (positionals.length === words || values["help"] === true) return { words: positionals, values };
    return positionals.length < words ? "something is missing" : `what is ${JSON.stringify(positionals[words])}?`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** With what lies beneath where the sentence alone does not help whoever runs the command. */
function sentenceOf(error: unknown): string {
  if (error instanceof CommandFailed || !(error instanceof Error))
    return error instanceof Error ? error.message : String(error);
  const { cause } = error;
  const isHidden = error instanceof PorticoError && error.status === 503 && cause instanceof Error;
  return isHidden
    ? `${error.message}: ${cause.message || (cause as { code?: string }).code || cause.name}`
    : error.message;
}

function misunderstood(complain: Surroundings["complain"], sentence: string, command?: Command): number {
  complain(`portico: ${sentence}`);
  complain(
    command === undefined
      ? "Run portico --help for the list."
      : `Usage: portico ${command.name} ${command.usage}`.trimEnd(),
  );
  return 2;
}

function isHelp(word: string | undefined): boolean {
  return word === "help" || word === "--help" || word === "-h";
}

function help(): readonly string[] {
  const width = Math.max(...commands.map(({ name, usage }) => `${name} ${usage}`.length));
  return [
    "Usage: portico <command> [options]",
    "",
    ...commands.map(({ name, usage, summary }) => `  ${`${name} ${usage}`.padEnd(width)}  ${summary}`),
    "",
    "  --database <url>        postgres://user@host/name or sqlite:<file>; else DATABASE_URL",
    "  --redis <url>           where sessions and keys are, if not in the database; else REDIS_URL",
    "  --redis-prefix <text>   the prefix that the application gives to redisStores, if it does; else REDIS_PREFIX",
  ];
}

function helpOf({ name, usage, summary }: Command): readonly string[] {
  return [`Usage: portico ${name} ${usage}`.trimEnd(), "", summary];
}
