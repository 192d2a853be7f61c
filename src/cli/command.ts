import type { ParseArgsOptionsConfig } from "node:util";
import type { Database } from "../sql/database/database.ts";
import type { Stores } from "../stores/stores.ts";

/** What a command talks to the world by. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** One line of the answer. */
  readonly say: (line: string) => void;
  /** One line of what went wrong, or what to do now. */
  readonly complain: (line: string) => void;
  readonly askPassword: () => Promise<string>;
}

/** What a command gets when it runs. */
export interface Call extends Surroundings {
  /** The words after the command's own. */
  readonly words: readonly string[];
  readonly values: Readonly<Record<string, string | boolean | readonly (string | boolean)[] | undefined>>;
  readonly database: Database;
  /** In Redis where one is given, else in the database. */
  readonly stores: () => Promise<Stores>;
}

/** A command: how it is written, and what it does. */
export interface Command {
  /** The words it begins with: `user create`. */
  readonly name: string;
  /** What follows them, for the help. */
  readonly usage: string;
  readonly summary: string;
  /** How many words follow. */
  readonly words: number;
  readonly options: ParseArgsOptionsConfig;
  /** Whether it reads or writes sessions or API keys, and so has to know where the application keeps them. @default false */
  readonly needsStores?: boolean;
  run(call: Call): Promise<void>;
}

/** Something that was asked for cannot be done: the sentence is all there is to say. */
export class CommandFailed extends Error {
  override readonly name: string = "CommandFailed";
}

/** A value that was given once. */
export function textValue({ values }: Call, option: string): string | undefined {
  const value = values[option];
  return typeof value === "string" ? value : undefined;
}

/** A value that may be given several times. */
export function listValue({ values }: Call, option: string): readonly string[] {
  const value = values[option];
  return Array.isArray(value) ? value.filter((entry) => typeof entry === "string") : [];
}
