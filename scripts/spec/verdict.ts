/** The lines to print, and whether the command succeeds. */
export interface Verdict {
  readonly lines: readonly string[];
  readonly ok: boolean;
}

/** Prints what `judge` finds and sets the exit code. What it throws is printed as one line. */
export function deliver(command: string, judge: () => Verdict): void {
  try {
    const { lines, ok } = judge();
    console.log(lines.join("\n"));
    process.exitCode = ok ? 0 : 1;
  } catch (error) {
    console.error(`${command}: ${(error as Error).message}`);
    process.exitCode = 1;
  }
}
