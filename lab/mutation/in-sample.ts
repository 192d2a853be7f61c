import { createHash } from "node:crypto";
import type { Mutant } from "./instrument.ts";

/** The part of all mutants that is run, from 0 to 1. Another seed chooses other mutants. */
export interface Sample {
  readonly share: number;
  readonly seed: string;
}

/** Whether a mutant belongs to the sample. Depends on nothing but the arguments, so that a run can be repeated. */
export function inSample(mutant: Mutant, { share, seed }: Sample): boolean {
  const { fileName, location, mutatorName, replacement } = mutant;
  const place = [location.start.line, location.start.column, location.end.line, location.end.column];
  const digest = createHash("sha256").update(JSON.stringify([seed, fileName, ...place, mutatorName, replacement]));
  return digest.digest().readUInt32BE() < share * 2 ** 32;
}
