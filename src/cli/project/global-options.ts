import { type Command, Option } from "commander";

/** The options that every command has. */
export interface GlobalOptions {
  readonly config?: string;
  readonly json?: boolean;
  readonly database?: string;
  readonly redis?: string;
  readonly redisPrefix?: string;
  readonly stores?: string;
}

/** The heading of the global options in the help. */
export const GLOBAL = "Global options:";

/** The flags of the global options and their descriptions. */
export const GLOBAL_OPTIONS: readonly (readonly [flags: string, description: string])[] = [
  ["--config <file>", "the configuration file (default: portico.config.ts, .js or .mjs in this directory)"],
  ["--json", "print the result as JSON"],
  [
    "--database <url>",
    "the database, as for openDatabase: postgres://user@host/name or sqlite:<file> (default: the configuration, then DATABASE_URL)",
  ],
  ["--redis <url>", "the Redis server of redisStores, without a configuration (default: REDIS_URL)"],
  ["--redis-prefix <text>", "the prefix of redisStores, without a configuration (default: REDIS_PREFIX)"],
  ["--stores <where>", "where sessions and API keys are kept, without a configuration: database or redis"],
];

/**
 * Adds the global options to the program and to each command, so that they may stand before and after its name. The
 * program does not look for them behind the name, where the value of an option may look like another option: the id of
 * a session may begin with `-V`.
 */
export function addGlobalOptions(program: Command): void {
  for (const command of [program, ...leavesOf(program)])
    for (const [flags, description] of GLOBAL_OPTIONS)
      command.addOption(new Option(flags, description).helpGroup(GLOBAL));
}

/** The commands that do something, in the order of the help. */
export function leavesOf(command: Command): readonly Command[] {
  return command.commands.length === 0 ? [command] : command.commands.flatMap(leavesOf);
}
