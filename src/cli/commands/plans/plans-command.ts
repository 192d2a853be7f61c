import type { Command } from "commander";
import type { RunCommand } from "../runner.ts";

/** The options of `portico plans`. */
export interface PlansFlags {
  readonly as?: string;
}

/** `portico plans` */
export function plansCommand(program: Command, run: RunCommand): void {
  program
    .command("plans")
    .description(
      "Lets the database explain every page of the declared lists. Ends with 1 if an index is missing. Not for production.",
    )
    .option("--as <user>", "read the lists as this user; default: a user who does not exist, with every permission")
    .action(run<PlansFlags>(async (call) => (await import("./explain-application.ts")).explainApplication(call)));
}
