import type { Command } from "commander";
import type { RunCommand } from "../runner.ts";

/** `portico doctor` */
export function doctorCommand(program: Command, run: RunCommand): void {
  program
    .command("doctor")
    .description("Checks the configuration, secrets, addresses, stores and database. Ends with 1 if a check failed.")
    .action(run(async (call) => (await import("./examine.ts")).examine(call)));
}
