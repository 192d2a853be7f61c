import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { propertySeed } from "./seeds/property-seed.ts";
import { guardFaults, plantGuardFault } from "./shapes/guard-faults.ts";

// npm run guard-shapes -- [--count 20000] [--seed 7] [--only PostgreSQL] [--fault "an upsert without a condition"] [--faults]
// Makes tables, rules, queries and writes, sends them through the guard of a database, and compares rows, totals and the tables
// after a write with what JavaScript finds. --fault changes the guard, so that the run must find a difference, and --faults does
// this with every fault, each in a process of its own.

const { values } = parseArgs({
  options: {
    count: { type: "string", default: "20000" },
    seed: { type: "string" },
    only: { type: "string" },
    fault: { type: "string" },
    faults: { type: "boolean", default: false },
  },
});
const seed = propertySeed(values.seed);
process.exitCode = values.faults ? findFaults() : await compare(values.fault);

async function compare(name: string | undefined): Promise<number> {
  const fault = name === undefined ? undefined : plantGuardFault(name);
  const { checkGuard } = await import("./shapes/check-guard.ts");
  const engines = (["PostgreSQL", "SQLite"] as const).filter(
    (engine) => (values.only ?? engine) === engine && (fault?.only ?? engine) === engine,
  );
  let differences = 0;
  for (const engine of engines) {
    const began = performance.now();
    const { counts, compared, wrong } = await checkGuard(engine, { count: Number(values.count), seed });
    const seconds = ((performance.now() - began) / 1000).toFixed(1);
    console.log(`${engine}: ${compared} compared in ${seconds} s, ${JSON.stringify(counts)}`);
    if (wrong === null) continue;
    differences++;
    console.log(`${engine}: DIFFERENCE ${wrong.slice(0, 2_000)}`);
  }
  console.log(`guard-shapes: ${differences} of ${engines.length} databases differ, seed ${seed}`);
  if (fault === undefined) return differences === 0 ? 0 : 1;
  return differences === engines.length ? 0 : 1;
}

function findFaults(): number {
  const missed = Object.keys(guardFaults).filter((name) => {
    const began = performance.now();
    const args = [fileURLToPath(import.meta.url), "--fault", name, "--seed", String(seed), "--count", "20000"];
    const { status, stderr } = spawnSync(process.execPath, args, { encoding: "utf8", timeout: 60_000 });
    const seconds = ((performance.now() - began) / 1000).toFixed(1);
    console.log(`${status === 0 ? "found" : "MISSED"} in ${seconds} s: ${name}${status === 0 ? "" : `\n${stderr}`}`);
    return status !== 0;
  });
  console.log(`guard-shapes: ${Object.keys(guardFaults).length - missed.length} faults found, ${missed.length} missed`);
  return missed.length === 0 ? 0 : 1;
}
