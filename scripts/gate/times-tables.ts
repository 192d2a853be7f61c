import type { FileTimes, StepTimes } from "./file-times.ts";

/** The steps of the gate as a Markdown table, those that install last. */
export function stepsTable(steps: readonly StepTimes[]): string {
  const judging = steps.filter(({ isInstallation }) => !isInstallation);
  const installing = steps.filter(({ isInstallation }) => isInstallation);
  return [
    "| Step | Seconds | CPU seconds |",
    "|---|--:|--:|",
    ...judging.map((step) => stepRow(step.isBeside === true ? `${step.name}, beside the tests` : step.name, [step])),
    `| **The gate** | ${wholeOf(
      judging.filter(({ isBeside }) => isBeside !== true),
      "seconds",
    )} | ${wholeOf(judging, "cpuSeconds")} |`,
    stepRow("Installing, in addition", installing),
  ].join("\n");
}

function stepRow(name: string, steps: readonly StepTimes[]): string {
  return `| ${name} | ${wholeOf(steps, "seconds")} | ${wholeOf(steps, "cpuSeconds")} |`;
}

function wholeOf(steps: readonly StepTimes[], key: "seconds" | "cpuSeconds"): string {
  return whole(total(steps.map((step) => step[key])));
}

/** The most expensive test files as a Markdown table, by the CPU time of the worker and the processes that it started. */
export function filesTable(files: readonly FileTimes[], most: number): string {
  const sorted = files.toSorted((a, b) => cpuMs(b) - cpuMs(a));
  return [
    "| Test file | Seconds | CPU | Loading | Processes | Hashing | Computing | Waiting |",
    "|---|--:|--:|--:|--:|--:|--:|--:|",
    ...sorted.slice(0, most).map((file) => rowOf(`\`${file.file}\``, file)),
    rowOf(`All ${files.length} files`, sumOf(files)),
  ].join("\n");
}

type Costs = Omit<FileTimes, "file" | "tests">;

function rowOf(name: string, file: Costs): string {
  const { wallMs, loadingMs, childrenMs, hashingMs, processes } = file;
  const computingMs = Math.max(0, file.cpuMs - loadingMs - hashingMs);
  const waitingMs = Math.max(0, wallMs - file.cpuMs);
  const started = processes === 0 ? "0" : `${seconds(childrenMs)} (${processes})`;
  const cells = [seconds(wallMs), seconds(cpuMs(file)), seconds(loadingMs), started, seconds(hashingMs)];
  return `| ${[name, ...cells, seconds(computingMs), seconds(waitingMs)].join(" | ")} |`;
}

function sumOf(files: readonly FileTimes[]): Costs {
  const sum = (key: keyof Costs): number => total(files.map((file) => file[key]));
  return {
    wallMs: sum("wallMs"),
    cpuMs: sum("cpuMs"),
    childrenMs: sum("childrenMs"),
    processes: sum("processes"),
    hashes: sum("hashes"),
    hashingMs: sum("hashingMs"),
    loadingMs: sum("loadingMs"),
  };
}

const cpuMs = (file: Costs): number => file.cpuMs + file.childrenMs;
const total = (numbers: readonly number[]): number => numbers.reduce((sum, number) => sum + number, 0);
const whole = (number: number): string => Math.round(number).toLocaleString("en");
const seconds = (ms: number): string => (ms / 1_000).toFixed(1);
