/** The process in which a command runs: its environment, its output and the person at its terminal. Tests pass their own. */
export interface CommandContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The directory in which the configuration is looked for. */
  readonly cwd: string;
  /** Prints one line of the result. */
  readonly print: (line: string) => void;
  /** Prints one line of an error or a hint. */
  readonly printError: (line: string) => void;
  /** Asks for a new password, twice on a terminal. */
  readonly askPassword: () => Promise<string>;
  /** Asks a question that is answered with yes or no; `null` if the input is not a terminal. */
  readonly confirm: ((question: string) => Promise<boolean>) | null;
  /** The columns of the terminal; `null` if the output is not a terminal. */
  readonly width: number | null;
  /** Replaces the last line of the terminal by a text about the work; an empty one removes it. `null` without a terminal. */
  readonly showStatus: ((text: string) => void) | null;
}
