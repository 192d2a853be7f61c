import type { Command } from "commander";
import { within } from "../core/within.ts";
import { UsageError } from "./command-failed.ts";
import { jsonText, printable } from "./output/printable.ts";
import type { Result } from "./output/result.ts";
import { sentenceOf } from "./output/sentence-of.ts";
import type { GlobalOptions } from "./project/global-options.ts";
import { Project } from "./project/project.ts";
import type { Surroundings } from "./surroundings.ts";

/** A running command. */
export interface Call<Options> extends Surroundings {
  /** The arguments, in the order of their declaration. */
  readonly words: readonly string[];
  readonly options: Options & GlobalOptions;
  readonly project: Project;
}

/** Makes the action of a command from the function that does its work. */
export type Run = <Options = object>(
  work: (call: Call<Options>) => Promise<Result>,
) => (...given: unknown[]) => Promise<void>;

/** Runs the work of a command, prints its result and closes what it opened. */
export function runner(surroundings: Surroundings, end: (code: number) => void): Run {
  const { say, complain } = surroundings;
  return (work) =>
    async (...given) => {
      const command = given.at(-1) as Command;
      const options = command.optsWithGlobals<never>();
      const project = new Project(options, surroundings);
      try {
        const result = await work({ ...surroundings, options, project, words: command.args });
        const { data, lines, isDocument = false, hints = [], code = 0 } = result;
        if ((options as GlobalOptions).json !== true)
          for (const line of lines) say(isDocument ? line : printable(line));
        else if (data !== undefined) say(jsonText(data));
        for (const hint of hints) complain(printable(hint));
        end(code);
      } catch (error) {
        complain(`portico: ${printable(sentenceOf(error))}`);
        if (error instanceof UsageError) complain(`Run portico ${pathOf(command)} --help for its options.`);
        end(error instanceof UsageError ? 2 : 1);
      } finally {
        // A server that does not respond would keep the command from ending.
        const alive = setInterval(() => {}, CLOSE_MS);
        await within(CLOSE_MS, project.close()).catch(() => {});
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
