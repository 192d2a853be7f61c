import { parseArgs } from "node:util";
import { policiesAlone } from "./guard/policies-alone.ts";
import { propertySeed } from "./seeds/property-seed.ts";

// npm run guard -- [--operations 100000] [--seed 7] [--only PostgreSQL] [--mode both] [--triples 10000]
// Sends random operations of two tenants to a tracker whose handlers check nothing, and fails if a byte of one tenant reaches the
// other, if a row of the other tenant changes, or if a way around the guard of the database is not refused. --mode
// policies leaves the conditions of the guard out of the statements and keeps the tenants apart by policies of PostgreSQL alone, both
// uses both, and unprotected neither, so that the run must find faults. --triples asks about
// random triples of a user, a row and a verb instead, and fails if JavaScript, a list, the guard and policies disagree about one.

const { values } = parseArgs({
  options: {
    operations: { type: "string", default: "100000" },
    seed: { type: "string" },
    only: { type: "string" },
    mode: { type: "string", default: "guard" },
    triples: { type: "string" },
  },
});
const seed = propertySeed(values.seed);
const modes: readonly string[] = ["guard", "policies", "both", "unprotected"];
if (!modes.includes(values.mode)) throw new Error(`--mode is one of ${modes.join(", ")}`);
const hasPolicies = values.mode === "policies" || values.mode === "both";
const engines = (["PostgreSQL", "SQLite"] as const).filter(
  (engine) => (values.only ?? engine) === engine && (values.mode === "guard" || engine === "PostgreSQL"),
);
// Before the modules of the guard are loaded.
if (values.mode === "policies" || values.mode === "unprotected") policiesAlone();
const faults = values.triples === undefined ? await sendOperations() : await compareTriples(Number(values.triples));
process.exitCode = faults === 0 ? 0 : 1;

async function sendOperations(): Promise<number> {
  const { checkTracker } = await import("./guard/check-tracker.ts");
  let faults = 0;
  for (const engine of engines) {
    const began = performance.now();
    const operations = Math.ceil(Number(values.operations) / engines.length);
    const report = await checkTracker(engine, { operations, seed, hasPolicies });
    console.log(`${engine}: ${report.operations} operations in ${secondsSince(began)} s`);
    for (const [what, count] of Object.entries(report.counts).toSorted(([one], [next]) => one.localeCompare(next)))
      console.log(`  ${what}: ${count}`);
    for (const fault of report.faults.slice(0, 10)) console.log(`${engine}: FAULT ${fault}`);
    faults += report.faults.length;
  }
  console.log(`guard: ${values.operations} operations, mode ${values.mode}, ${faults} faults, seed ${seed}`);
  return faults;
}

async function compareTriples(count: number): Promise<number> {
  const { checkTriples } = await import("./shapes/check-triples.ts");
  let disagreements = 0;
  for (const engine of engines) {
    const began = performance.now();
    const { compared, counts, wrong } = await checkTriples(engine, { count, seed });
    console.log(`${engine}: ${compared} triples in ${secondsSince(began)} s, ${JSON.stringify(counts)}`);
    for (const one of wrong.slice(0, 3)) console.log(`${engine}: DISAGREEMENT ${one}`);
    disagreements += wrong.length;
  }
  console.log(`guard: ${count} triples on each database, ${disagreements} disagreements, seed ${seed}`);
  return disagreements;
}

function secondsSince(began: number): string {
  return ((performance.now() - began) / 1000).toFixed(0);
}
