import type { CommandContext } from "./command-context.ts";

/** A person waits this long without wondering. */
const SHOWN_AFTER_MS = 1_000;

/** The progress of a command. */
export interface Progress {
  /** The context for the command, which ends the progress as soon as the command prints or asks something. */
  readonly context: CommandContext;
  end(): void;
}

/** Shows on the terminal that a command still works, and for how long, from one second on. */
export function showProgress(context: CommandContext, command: string): Progress {
  const { showStatus, print, printError, askPassword, confirm } = context;
  if (showStatus === null) return { context, end: () => {} };
  let seconds = 0;
  const timer = setInterval(() => showStatus(`portico ${command}: ${++seconds} s`), SHOWN_AFTER_MS);
  timer.unref();
  const end = (): void => {
    clearInterval(timer);
    if (seconds > 0) showStatus("");
    seconds = 0;
  };
  const ending = <Args extends readonly unknown[], R>(act: (...args: Args) => R): ((...args: Args) => R) => {
    return (...args) => {
      end();
      return act(...args);
    };
  };
  return {
    context: {
      ...context,
      print: ending(print),
      printError: ending(printError),
      askPassword: ending(askPassword),
      confirm: confirm === null ? null : ending(confirm),
    },
    end,
  };
}
