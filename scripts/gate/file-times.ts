import type { FileCost } from "./file-cost.ts";

/** What one test file cost in the last complete run. */
export interface FileTimes extends FileCost {
  readonly file: string;
  readonly tests: number;
  /** The time to load the modules of the file, in milliseconds. */
  readonly loadingMs: number;
}

/** What one step of the gate cost. */
export interface StepTimes {
  readonly name: string;
  readonly seconds: number;
  /** The CPU time of its processes. Servers that were running already are not included. */
  readonly cpuSeconds: number;
  /** Whether the step installs, so that it isn't part of the time of the gate. */
  readonly isInstallation: boolean;
  /** Whether the step runs beside the tests, so that its seconds are not added to theirs. */
  readonly isBeside?: boolean;
}

/** Where `npm test` writes the times of its files, and `.ci/run` those of its steps, one JSON object per line. */
export const FILES_PATH = ".cache/gate/files.json";
export const STEPS_PATH = ".cache/gate/steps.jsonl";
