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
 * Runs `portico <args>` and returns the exit code: 0 for success, 1 for a failure, 2 for a usage error.
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
    return misunderstood(complain, `unknown ${kind} ${JSON.stringify(args.slice(0, words).join(" "))}`);
  }
  const read = readArguments(command, args);
  if (typeof read === "string") return misunderstood(complain, read, command);
  if (read.values["help"] === true) {
    for (const line of helpOf(command)) say(line);
    return 0;
  }
  const url = read.values["database"] ?? env["DATABASE_URL"];
  if (typeof url !== "string" || url === "")
    return misunderstood(complain, "no database: pass --database <url> or set DATABASE_URL", command);
  const unknown = command.needsStores === true ? unknownStores(read.values, env) : null;
  if (unknown !== null) return misunderstood(complain, unknown, command);
  return work(command, { ...surroundings, ...read }, url);
}

/** Returns the usage error if the stores of the application are unknown, else `null`. */
function unknownStores(values: Call["values"], env: Call["env"]): string | null {
  const { stores } = values;
  if (stores === "database" || (stores === undefined && redisOf({ values, env }) !== null)) return null;
  if (stores === "redis")
    return redisOf({ values, env }) === null ? "--stores redis requires --redis <url> or REDIS_URL" : null;
  if (stores !== undefined) return '--stores must be "database" or "redis"';
  return (
    "no store for sessions and API keys: pass --redis <url> or set REDIS_URL if the application uses redisStores, " +
    "or pass --stores database if it uses sqlStores. Without either, the application keeps them in process memory, " +
    "which commands cannot reach"
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
    // Names come from users, so control characters are removed: they could be terminal escape sequences.
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

/** Parses the arguments. Returns a message if they are wrong. */
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
    return positionals.length < words
      ? "missing argument"
      : `unexpected argument ${JSON.stringify(positionals[words])}`;
  } catch (error) {
    // Drops the hint that Node appends about arguments that begin with a dash.
    return error instanceof Error ? (error.message.split(". To specify")[0] ?? error.message) : String(error);
  }
}

/**
 * Joins `--revoke <id>` to `--revoke=<id>`: one in 64 session ids begins with a dash and would be read as an option.
 */
function withSessionIds(args: readonly string[]): string[] {
  return args.flatMap((word, at) => {
    if (SESSION_ID.test(word) && args[at - 1] === "--revoke") return [];
    const next = args[at + 1] ?? "";
    return word === "--revoke" && SESSION_ID.test(next) ? [`${word}=${next}`] : [word];
  });
}
const SESSION_ID = /^[\w-]{43}$/;

/** Adds the cause of a 503, whose message alone does not help an operator. */
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
      ? "Run portico --help for a list of commands."
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
  "  --redis <url>           the Redis server of the application's stores; default: REDIS_URL",
  "  --redis-prefix <text>   the prefix that the application passes to redisStores; default: REDIS_PREFIX",
  "  --stores <where>        where the application keeps sessions and API keys: database or redis",
  "  -h, --help              show this help, or the help of a command",
];

function helpOf({ name, usage, summary }: Command): readonly string[] {
  return [`Usage: portico ${name} ${usage}`.trimEnd(), "", `  ${summary}`, "", ...SHARED_HELP];
}
