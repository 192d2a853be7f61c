import { readFileSync } from "node:fs";

/** The test files that judge some mutants, and which of them each judges. */
export type Selection = Readonly<Record<string, readonly string[]>>;

/** The selection of this run, if it is not about the tests of a folder. */
export function readSelection(): Selection | undefined {
  const { PORTICO_SELECTION = "" } = process.env;
  return PORTICO_SELECTION === "" ? undefined : (JSON.parse(readFileSync(PORTICO_SELECTION, "utf8")) as Selection);
}

/** Whether the name of a test file says that it starts processes, or waits. */
export function isSlowFile(file: string): boolean {
  return /\.(?:servers|alone|modules|browser|quiet)\.test\.ts$/.test(file);
}
