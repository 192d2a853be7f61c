import type { ParseArgsOptionsConfig } from "node:util";
import type { Database } from "../sql/database/database.ts";
import type { Stores } from "../stores/stores.ts";

/** The environment and the output of a command. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Prints one line of the result. */
  readonly say: (line: string) => void;
  /** Prints one line of an error or a hint. */
  readonly complain: (line: string) => void;
  readonly askPassword: () => Promise<string>;
}

/** The arguments and services of a running command. */
export interface Call extends Surroundings {
  /** The arguments after the name of the command. */
  readonly words: readonly string[];
  readonly values: Readonly<Record<string, string | boolean | readonly (string | boolean)[] | undefined>>;
  readonly database: Database;
  /** Opens the stores: in Redis if a URL is given, else in the database. */
  readonly stores: () => Promise<Stores>;
}

/** A command with its usage and its implementation. */
export interface Command {
  /** The name, such as `user create`. */
  readonly name: string;
  /** The arguments, as shown in the help. */
  readonly usage: string;
  readonly summary: string;
  /** The number of positional arguments. */
  readonly words: number;
  readonly options: ParseArgsOptionsConfig;
  /** Whether it reads or writes sessions or API keys and so needs the stores of the application. @default false */
  readonly needsStores?: boolean;
  run(call: Call): Promise<void>;
}

/** An expected failure. Its message is printed without further details. */
export class CommandFailed extends Error {
  override readonly name: string = "CommandFailed";
}

/** Returns the value of an option. */
export function textValue({ values }: Call, option: string): string | undefined {
  const value = values[option];
  return typeof value === "string" ? value : undefined;
}

/** Returns the values of an option that may be repeated. */
export function listValue({ values }: Call, option: string): readonly string[] {
  const value = values[option];
  return Array.isArray(value) ? value.filter((entry) => typeof entry === "string") : [];
}
