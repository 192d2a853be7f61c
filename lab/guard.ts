import { parseArgs } from "node:util";
import { checkTracker } from "./guard/check-tracker.ts";
import { propertySeed } from "./seeds/property-seed.ts";

// npm run guard -- [--operations 100000] [--seed 7] [--only PostgreSQL]
// Sends random operations of two tenants to a tracker whose handlers check nothing, and fails if a byte of one tenant reaches the
// other, if a row of the other tenant changes, or if a way around the guard of the database is not refused.

const { values } = parseArgs({
  options: {
    operations: { type: "string", default: "100000" },
    seed: { type: "string" },
    only: { type: "string" },
  },
});
const seed = propertySeed(values.seed);
const engines = (["PostgreSQL", "SQLite"] as const).filter((engine) => (values.only ?? engine) === engine);
let faults = 0;
for (const engine of engines) {
  const began = performance.now();
  const operations = Math.ceil(Number(values.operations) / engines.length);
  const report = await checkTracker(engine, { operations, seed });
  const seconds = ((performance.now() - began) / 1000).toFixed(0);
  console.log(`${engine}: ${report.operations} operations in ${seconds} s`);
  for (const [what, count] of Object.entries(report.counts).toSorted(([one], [next]) => one.localeCompare(next)))
    console.log(`  ${what}: ${count}`);
  for (const fault of report.faults.slice(0, 10)) console.log(`${engine}: FAULT ${fault}`);
  faults += report.faults.length;
}
console.log(`guard: ${values.operations} operations, ${faults} faults, seed ${seed}`);
process.exitCode = faults === 0 ? 0 : 1;
