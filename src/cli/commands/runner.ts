import type { Command } from "commander";
import { isInstance } from "../../core/describe-error.ts";
import { withTimeout } from "../../core/work/with-timeout.ts";
import { UsageError } from "../output/command-failed.ts";
import { jsonText, printable } from "../output/printable.ts";
import type { Result } from "../output/result.ts";
import { docsOf, sentenceOf } from "../output/sentence-of.ts";
import type { CommandContext } from "../process/command-context.ts";
import { showProgress } from "../process/show-progress.ts";
import type { GlobalOptions } from "../project/global-options.ts";
import { Project } from "../project/project.ts";

/** A running command. */
export interface Call<Options> extends CommandContext {
  /** The arguments, in the order of their declaration. */
  readonly words: readonly string[];
  readonly options: Options & GlobalOptions;
  readonly project: Project;
}

/** Makes the action of a command from the function that does its work. */
export type RunCommand = <Options = object>(
  work: (call: Call<Options>) => Promise<Result>,
) => (...given: unknown[]) => Promise<void>;

/** Runs the work of a command, prints its result and closes what it opened. */
export function runner(context: CommandContext, end: (code: number) => void): RunCommand {
  const { print, printError } = context;
  return (work) =>
    async (...given) => {
      const command = given.at(-1) as Command;
      const options = command.optsWithGlobals<never>();
      const project = new Project(options, context);
      const progress = showProgress(context, pathOf(command));
      try {
        const result = await work({ ...progress.context, options, project, words: command.args });
        progress.end();
        const { data, lines, isDocument = false, hints = [], code = 0 } = result;
        if ((options as GlobalOptions).json !== true)
          for (const line of lines) print(isDocument ? line : printable(line));
        else if (data !== undefined) print(jsonText(data));
        for (const hint of hints) printError(printable(hint));
        end(code);
      } catch (error) {
        progress.end();
        printError(`portico: ${printable(sentenceOf(error))}`);
        const docs = docsOf(error);
        if (docs !== undefined) printError(`See ${docs}`);
        if (isInstance(error, UsageError)) printError(`Run portico ${pathOf(command)} --help for its options.`);
        end(isInstance(error, UsageError) ? 2 : 1);
      } finally {
        // A server that does not respond would keep the command from ending.
        const alive = setInterval(() => {}, CLOSE_MS);
        await withTimeout(CLOSE_MS, project.close()).catch(() => {});
        clearInterval(alive);
      }
    };
}

const CLOSE_MS = 3_000;

/** The words that call the command, without `portico`. */
function pathOf(command: Command): string {
  const { parent } = command;
  return parent === null || parent.parent === null ? command.name() : `${pathOf(parent)} ${command.name()}`;
}
