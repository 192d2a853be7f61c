import { parseArgs } from "node:util";
import { checkLists } from "./lists/check-lists.ts";
import { throughDrizzle, throughKysely } from "./lists/list-source.ts";
import { propertySeed } from "./seeds/property-seed.ts";
import { engineNames } from "./servers/engines.ts";

// npm run lists -- [--count 1000] [--seed 7] [--through drizzle]
// Declares lists at random and pages through each of them, forward and backward, on PostgreSQL, MariaDB and SQLite. Every row has to
// come once, and in the order that the rows have when JavaScript sorts them. Without --seed, PORTICO_SEED sets the lists.

const { values } = parseArgs({
  options: {
    count: { type: "string", default: "1000" },
    seed: { type: "string" },
    through: { type: "string", default: "kysely" },
  },
});
const count = Number(values.count);
const seed = propertySeed(values.seed);
const source = values.through === "drizzle" ? throughDrizzle : throughKysely();
let failures = 0;
for (const name of engineNames) {
  const start = performance.now();
  const wrong = await checkLists(name, { count, seed }, source);
  for (const { number, list, reason } of wrong)
    console.log(`${name}: list ${number} of seed ${seed}: ${JSON.stringify(list)}\n  ${reason}`);
  console.log(
    `${name}: ${count - wrong.length} of ${count} lists in ${((performance.now() - start) / 1_000).toFixed(0)} s`,
  );
  failures += wrong.length;
}
console.log(`lists: ${count} declarations on ${engineNames.length} databases, ${failures} wrong, seed ${seed}`);
if (failures > 0) process.exitCode = 1;
