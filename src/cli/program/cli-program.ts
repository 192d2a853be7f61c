import { readFileSync } from "node:fs";
import { Command, Option } from "commander";
import { packageFile } from "../../core/packages/package-file.ts";
import { accessCommands } from "../commands/access-commands.ts";
import { auditCommand } from "../commands/audit-command.ts";
import { clientCommand } from "../commands/client/client-command.ts";
import { devCommand } from "../commands/dev/dev-command.ts";
import { doctorCommand } from "../commands/doctor/doctor-command.ts";
import { eventsCommands } from "../commands/events-commands.ts";
import { keysCommands } from "../commands/keys-commands.ts";
import { migrateCommands } from "../commands/migrate-commands.ts";
import { openapiCommand } from "../commands/openapi-command.ts";
import { plansCommand } from "../commands/plans/plans-command.ts";
import { rlsCommand } from "../commands/rls-command.ts";
import { roleCommands } from "../commands/role-commands.ts";
import { routesCommand } from "../commands/routes-command.ts";
import { runner } from "../commands/runner.ts";
import { schemaCommands } from "../commands/schema/schema-commands.ts";
import { userCommands } from "../commands/user-commands.ts";
import type { CommandContext } from "../process/command-context.ts";
import { addGlobalOptions, GLOBAL } from "../project/global-options.ts";

/**
 * The program `portico` with all of its commands. The manual is generated from it. The modules of the commands import
 * the framework when a command runs, so that the help appears at once.
 */
export function cliProgram(context: CommandContext, end: (code: number) => void): Command {
  const { print, printError, width } = context;
  const program = new Command("portico")
    .description("Shows, checks and manages a Portico application.")
    .version(version(), "-V, --version", "print the version of Portico")
    .addHelpOption(new Option("-h, --help", "show this help").helpGroup(GLOBAL))
    .configureOutput({
      writeOut: (text) => print(text.trimEnd()),
      writeErr: (text) => printError(text.replace(/^error: /, "portico: ").trimEnd()),
      getOutHelpWidth: () => width ?? PLAIN_WIDTH,
      getErrHelpWidth: () => width ?? PLAIN_WIDTH,
    })
    .exitOverride()
    // A command reads its own options alone. The groups and commands below inherit this.
    .enablePositionalOptions();
  const run = runner(context, end);
  devCommand(program, run);
  routesCommand(program, run);
  schemaCommands(program, run);
  openapiCommand(program, run);
  clientCommand(program, run);
  doctorCommand(program, run);
  plansCommand(program, run);
  migrateCommands(program, run);
  rlsCommand(program, run);
  userCommands(program, run);
  roleCommands(program, run);
  keysCommands(program, run);
  eventsCommands(program, run);
  auditCommand(program, run);
  accessCommands(program, run);
  addGlobalOptions(program);
  return program;
}

/** The width of the help in a file or a pipe. */
const PLAIN_WIDTH = 120;

function version(): string {
  const text = readFileSync(packageFile("package.json"), "utf8");
  return (JSON.parse(text) as { readonly version: string }).version;
}
