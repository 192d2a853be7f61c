import type { Command } from "commander";
import { CommandFailed, UsageError } from "../output/command-failed.ts";
import { printable } from "../output/printable.ts";
import type { Call } from "./runner.ts";

/** The option of a command that deletes data. */
export interface Confirmable {
  readonly yes?: boolean;
}

/** Adds `--yes` to a command that deletes data. */
export function confirmable(command: Command): Command {
  return command.option("-y, --yes", "do not ask for confirmation");
}

/** Asks whether to go on with what the sentence says. Without a terminal to ask on, `--yes` is required. */
export async function confirmed(call: Call<Confirmable>, sentence: string): Promise<void> {
  if (call.options.yes === true) return;
  if (call.confirm === null) throw new UsageError(`${sentence} Pass --yes to confirm it`);
  if (!(await call.confirm(printable(`${sentence} Continue?`)))) throw new CommandFailed("nothing was changed");
}
