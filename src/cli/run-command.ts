import { type ParseArgsOptionsConfig, parseArgs } from "node:util";
import { PorticoError } from "../core/portico-error.ts";
import type { Database } from "../sql/database/database.ts";
import { openDatabase } from "../sql/database/open-database.ts";
import { sqlStores } from "../sql/stores/sql-stores.ts";
import { closeStores } from "../stores/start-stores.ts";
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
  stores: { type: "string" },
  help: { type: "boolean", short: "h" },
};

/**
 * Runs `portico <words>` and gives the exit code: 0 when it is done, 1 when it failed, 2 when it was not understood.
 */
export async function runCommand(args: readonly string[], surroundings: Surroundings): Promise<number> {
  const { say, complain, env } = surroundings;
  const group = commands.filter(({ name }) => args.length === 0 || isHelp(args[0]) || name.startsWith(`${args[0]} `));
  const asked = args[group.length === commands.length ? 0 : 1];
  if (group.length > 0 && (asked === undefined || isHelp(asked))) {
    for (const line of help(group)) (asked === undefined ? complain : say)(line);
    return asked === undefined ? 2 : 0;
  }
  const command = commands.find(({ name }) => name === args.slice(0, name.split(" ").length).join(" "));
  if (command === undefined) {
    const [kind, words] = args[0]?.startsWith("-") ? ["option", 1] : ["command", 2];
    return misunderstood(complain, `there is no ${kind} ${JSON.stringify(args.slice(0, words).join(" "))}`);
  }
  const read = readArguments(command, args);
  if (typeof read === "string") return misunderstood(complain, read, command);
  if (read.values["help"] === true) {
    for (const line of helpOf(command)) say(line);
    return 0;
  }
  const url = read.values["database"] ?? env["DATABASE_URL"];
  if (typeof url !== "string" || url === "")
    return misunderstood(complain, "which database? Give --database <url>, or set DATABASE_URL", command);
  const unknown = command.needsStores === true ? unknownStores(read.values, env) : null;
  if (unknown !== null) return misunderstood(complain, unknown, command);
  return work(command, { ...surroundings, ...read }, url);
}

/** Why it is not known where the application keeps sessions and keys; `null` when it is. */
function unknownStores(values: Call["values"], env: Call["env"]): string | null {
  const { stores } = values;
  if (stores === "database" || (stores === undefined && redisOf({ values, env }) !== null)) return null;
  if (stores === "redis")
    return redisOf({ values, env }) === null ? "--stores redis needs --redis <url>, or REDIS_URL" : null;
  if (stores !== undefined) return '--stores takes "database" or "redis"';
  return (
    "where does the application keep sessions and API keys? Give --redis <url>, or set REDIS_URL, if it uses redisStores; " +
    "give --stores database if it uses sqlStores. An application without either keeps them in the memory of its process, " +
    "which no command reaches"
  );
}

function redisOf({ values, env }: Pick<Call, "values" | "env">): string | null {
  const url = values["redis"] ?? env["REDIS_URL"];
  return typeof url === "string" && url !== "" && values["stores"] !== "database" ? url : null;
}

async function work(command: Command, call: Omit<Call, "database" | "stores">, url: string): Promise<number> {
  let opened: Stores | undefined;
  let database: Database | undefined;
  try {
    const own = openDatabase(url, { poolSize: 2 });
    database = own;
    const redis = redisOf(call);
    const stores = async (): Promise<Stores> =>
      (opened ??=
        redis === null
          ? sqlStores(own)
          : (await import("../redis/redis-stores.ts")).redisStores(redis, prefixOf(call)));
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
      args: withSessionIds(args.slice(name.split(" ").length)),
      options: { ...shared, ...options },
      allowPositionals: true,
    });
    if (positionals.length === words || values["help"] === true) return { words: positionals, values };
    return positionals.length < words ? "something is missing" : `what is ${JSON.stringify(positionals[words])}?`;
  } catch (error) {
    // Node goes on to explain how to pass words that begin with a dash.
    return error instanceof Error ? (error.message.split(". To specify")[0] ?? error.message) : String(error);
  }
}

/** Every 64th id of a session begins with a dash, and would be read as an option: `--revoke <id>` is `--revoke=<id>`. */
function withSessionIds(args: readonly string[]): string[] {
  return args.flatMap((word, at) => {
    if (SESSION_ID.test(word) && args[at - 1] === "--revoke") return [];
    const next = args[at + 1] ?? "";
    return word === "--revoke" && SESSION_ID.test(next) ? [`${word}=${next}`] : [word];
  });
}
const SESSION_ID = /^[\w-]{43}$/;

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

function help(listed: readonly Command[]): readonly string[] {
  const width = Math.max(...listed.map(({ name, usage }) => `${name} ${usage}`.length));
  return [
    "Usage: portico <command> [options]",
    "",
    ...listed.map(({ name, usage, summary }) => `  ${`${name} ${usage}`.padEnd(width)}  ${summary}`),
    "",
    ...SHARED_HELP,
    "  --version               print the version of Portico",
  ];
}

const SHARED_HELP: readonly string[] = [
  "  --database <url>        postgres://user@host/name or sqlite:<file>; default: DATABASE_URL",
  "  --redis <url>           the Redis of the application's stores; default: REDIS_URL",
  "  --redis-prefix <text>   the prefix that the application passes to redisStores; default: REDIS_PREFIX",
  "  --stores <where>        where the application keeps sessions and API keys: database or redis",
  "  -h, --help              show this help, or the help of a command",
];

function helpOf({ name, usage, summary }: Command): readonly string[] {
  return [`Usage: portico ${name} ${usage}`.trimEnd(), "", `  ${summary}`, "", ...SHARED_HELP];
}
