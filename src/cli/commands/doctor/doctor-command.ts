import type { Command } from "commander";
import type { RunCommand } from "../runner.ts";

/** The options of `portico doctor`. */
export interface DoctorFlags {
  readonly check?: true;
}

/** `portico doctor` */
export function doctorCommand(program: Command, run: RunCommand): void {
  program
    .command("doctor")
    .description(
      "Checks the configuration, secrets, addresses, stores and database. Exits with code 1 if a check fails.",
    )
    .option("--check", "exit with code 1 also if something could not be checked")
    .action(run<DoctorFlags>(async (call) => (await import("./examine.ts")).examine(call)));
}
