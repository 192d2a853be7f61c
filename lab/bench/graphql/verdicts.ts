import type { Cell, Gate } from "./gates.ts";

/** A gate and its figure. */
export interface Verdict extends Gate {
  readonly measured: number;
}

/** CPU time per request of a workload on a server. */
export interface Cost {
  readonly row: string;
  readonly workload: string;
  readonly micros: number;
}

/** CI fails below this share of a gate: ratios differ that much between runs and machines. */
const TOLERANCE = 0.8;

/** Compares the costs of a run with the gates. */
export function verdictsOf(gates: readonly Gate[], costs: readonly Cost[]): readonly Verdict[] {
  const microsOf = ([row, workload]: Cell): number =>
    costs.find((cost) => cost.row === row && cost.workload === workload)?.micros ?? Number.NaN;
  return gates.map((gate) => {
    const [cost, base] = [microsOf(gate.cost), microsOf(gate.base)];
    const measured = gate.unit === "times" ? base / cost : cost - base;
    return { ...gate, measured: Math.round(measured * 100) / 100 };
  });
}

/** Prints a table of the gates, their goals and their figures, and last how many are reached. */
export function printVerdicts(verdicts: readonly Verdict[]): void {
  console.log(`  ${"".padEnd(66)}${["gate", "goal", "measured"].map((word) => word.padStart(10)).join("")}`);
  let reached = 0;
  for (const { title, unit, gate, goal, measured } of verdicts) {
    const cells = [gate, goal, measured].map((value) =>
      (unit === "µs" ? `${value.toFixed(1)} µs` : value.toFixed(2)).padStart(10),
    );
    const isReached = unit === "times" ? measured >= gate : measured <= gate;
    if (isReached) reached++;
    console.log(`  ${title.padEnd(66)}${cells.join("")}${isReached ? "" : "  not reached"}`);
  }
  console.log(`performance gates: ${reached} of ${verdicts.length} reached`);
}

const TRIES = 3;

/**
 * Fails the process if a figure is clearly worse than its gate in every measurement. Each one starts the servers anew, because
 * the compiler of V8 can be unlucky with a whole process, and a busy host with one of them.
 */
export async function enforce(measure: () => Promise<readonly Verdict[]>): Promise<void> {
  const reached = new Set<string>();
  for (let attempt = 1; attempt <= TRIES; attempt++) {
    const verdicts = await measure();
    printVerdicts(verdicts);
    for (const verdict of verdicts) if (!isFailure(verdict)) reached.add(verdict.title);
    const failures = verdicts.filter(({ title }) => !reached.has(title));
    if (failures.length === 0) return;
    console.log(`  below ${TOLERANCE} of the gate: ${failures.map(({ title }) => title).join("; ")}`);
  }
  process.exitCode = 1;
}

/** A missing figure is a failure too. */
function isFailure({ unit, gate, measured }: Verdict): boolean {
  return !(unit === "times" ? measured >= gate * TOLERANCE : measured <= gate / TOLERANCE);
}
