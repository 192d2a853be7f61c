import { CommanderError } from "commander";
import { isInstance } from "../../core/describe-error.ts";
import type { CommandContext } from "../process/command-context.ts";
import { cliProgram } from "./cli-program.ts";

/** Runs `portico <args>` and returns the exit code: 0 for success, 1 for a failure or a fault found, 2 for wrong arguments. */
export async function runCli(args: readonly string[], context: CommandContext): Promise<number> {
  let code = 0;
  const program = cliProgram(context, (ended) => {
    code = ended;
  });
  try {
    await program.parseAsync([...args], { from: "user" });
    return code;
  } catch (error) {
    if (!isInstance(error, CommanderError)) throw error;
    // The code is 0 for --help and --version.
    return error.exitCode === 0 ? 0 : 2;
  }
}
