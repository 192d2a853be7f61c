import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Survivor } from "./score.ts";

/** A survivor that changes nothing a test could observe, and why. */
export interface ExplainedSurvivor extends Survivor {
  readonly reason: string;
}

const FILE = join(import.meta.dirname, "../../tools/mutation/survivors.json");

export function readExplained(): readonly ExplainedSurvivor[] {
  return JSON.parse(readFileSync(FILE, "utf8")) as ExplainedSurvivor[];
}

/** The explanation of a survivor. */
export function explanationOf(survivor: Survivor, explained: readonly ExplainedSurvivor[]): string | undefined {
  return explained.find((known) => isSame(known, survivor))?.reason;
}

/** Whether two are the same mutant, also after the file has changed elsewhere. */
export function isSame(one: Survivor, other: Survivor): boolean {
  return (["file", "line", "mutator", "original", "replacement"] as const).every((key) => one[key] === other[key]);
}
