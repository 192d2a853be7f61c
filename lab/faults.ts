import { setTimeout as sleep } from "node:timers/promises";
import { cellName, RESOURCES, type RunCell } from "./faults/cell.ts";
import { cells } from "./faults/cells.ts";
import { haveOwnFolder } from "./faults/own-folder.ts";
import { untried } from "./faults/print-table.ts";
import { runCell } from "./faults/run-cell.ts";

// npm run faults: breaks everything that the product depends on, one cell (a resource and a fault) after the other, compares what
// an operator sees with what is expected, and shuts the process down meanwhile.
// --short runs one cell of each resource; --only redis,nats those whose name matches one of the expressions; --list shows the cells;
// --known "redis gone" does not fail for the known defects of these cells; --verbose prints the log of each cell.

/** Much more than a cell takes on a busy machine: whatever hangs must not keep the others from running. */
const LIMIT_MS = 300_000;

const option = (name: string): readonly string[] => {
  const at = process.argv.indexOf(name);
  return at === -1 ? [] : (process.argv[at + 1] ?? "").toLowerCase().split(",");
};
const only = option("--only").map((expression) => new RegExp(expression, "i"));
const known = option("--known");
const isVerbose = process.argv.includes("--verbose");
const chosen = cells.filter((cell) => only.length === 0 || only.some((expression) => expression.test(cellName(cell))));
const all = chosen.filter((cell): cell is RunCell => "sees" in cell);
const run = process.argv.includes("--short") ? firstOfEach(all) : all;

if (process.argv.includes("--list"))
  for (const cell of chosen)
    console.log(`${cellName(cell)}${"impossible" in cell ? `: impossible, ${cell.impossible}` : ""}`);
else {
  haveOwnFolder();
  // A scene that failed may have left a connection open.
  process.exit(await runAll());
}

async function runAll(): Promise<number> {
  let [passed, longestMs] = [0, 0];
  const defects: string[] = [];
  for (const cell of run) {
    const name = cellName(cell);
    const began = performance.now();
    const { faults, shutdownMs, slowestMs, log } = await Promise.race([runCell(cell), tooLong()]).catch(
      (error: unknown) => ({
        faults: [`the cell failed: ${error instanceof Error ? error.message : String(error)}`],
        shutdownMs: null,
        slowestMs: null,
        log: [],
      }),
    );
    const verdict =
      faults.length === 0
        ? cell.defect === undefined
          ? "ok    "
          : "FIXED "
        : cell.defect === undefined
          ? "FAILED"
          : "DEFECT";
    if (verdict === "ok    ") passed += 1;
    if (verdict === "DEFECT") defects.push(name);
    longestMs = Math.max(longestMs, shutdownMs ?? 0);
    const times = { "slowest request": slowestMs, shutdown: shutdownMs };
    const shown = Object.entries(times).flatMap(([what, ms]) => (ms === null ? [] : [`, ${what} ${seconds(ms)}`]));
    console.log(`${verdict} ${name} (${seconds(performance.now() - began)}${shown.join("")})`);
    for (const fault of faults) console.log(`       ${fault}`);
    if (isVerbose) for (const sentence of log) console.log(`       log: ${sentence}`);
  }
  const impossible = chosen.length - all.length;
  const missing = only.length === 0 ? untried(cells) : [];
  for (const [resource, fault] of missing) console.log(`not run: ${resource} ${fault}`);
  const unknown = defects.filter((name) => !known.includes(name.toLowerCase()));
  console.log(
    `faults: ${passed} cells passed, ${run.length - passed - defects.length} failed, ${all.length - run.length} skipped, ${impossible} impossible, ${missing.length} not run; longest shutdown ${seconds(longestMs)}; ${defects.length === 0 ? "no defects" : `defects: ${defects.join(", ")}`}`,
  );
  return passed + defects.length === run.length && unknown.length + missing.length === 0 && run.length > 0 ? 0 : 1;
}

async function tooLong(): Promise<never> {
  await sleep(LIMIT_MS, undefined, { ref: false });
  throw new Error(`it took more than ${seconds(LIMIT_MS)}`);
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}

function firstOfEach(list: readonly RunCell[]): readonly RunCell[] {
  return RESOURCES.flatMap((resource) => list.filter((cell) => cell.resource === resource).slice(0, 1));
}
