import type { Command } from "commander";
import type { RunCommand } from "../runner.ts";

/** The options of `portico plans`. */
export interface PlansFlags {
  readonly as?: string;
  readonly check?: true;
}

/** `portico plans` */
export function plansCommand(program: Command, run: RunCommand): void {
  program
    .command("plans")
    .description(
      "Runs EXPLAIN on every page of the declared lists. Exits with code 1 if an index is missing. Not for production.",
    )
    .option("--as <user>", "read the lists as this user (default: a user with every permission)")
    .option("--check", "exit with code 1 also if a list could not be checked")
    .action(run<PlansFlags>(async (call) => (await import("./explain-application.ts")).explainApplication(call)));
}
