import { parseArgs } from "node:util";
import { propertySeed } from "../test/property-seed.ts";
import { engineNames } from "../test/sql/engines.ts";
import { checkShapes, shapesOfKysely } from "./shapes/check-shapes.ts";
import { shapesOfDrizzle } from "./shapes/drizzle-shape.ts";

// npm run shapes -- [--count 20000] [--seed 7] [--through drizzle] [--only PostgreSQL]
// Makes queries of many shapes (joins, subqueries, WITH, unions, computed and renamed columns), restricts each by a rule and a filter,
// and compares its rows and totals with what JavaScript finds. Without --seed, PORTICO_SEED sets the queries.

const { values } = parseArgs({
  options: {
    count: { type: "string", default: "20000" },
    seed: { type: "string" },
    through: { type: "string", default: "kysely" },
    only: { type: "string" },
  },
});
const count = Number(values.count);
const seed = propertySeed(values.seed);
const open = values.through === "drizzle" ? shapesOfDrizzle : shapesOfKysely;
const places = engineNames
  .filter((name) => values.only === undefined || values.only === name)
  .flatMap((name) => (name === "MariaDB" ? [false, true] : [false]).map((isLoose) => ({ name, isLoose })));
if (places.length === 0) throw new Error(`--only ${values.only}: choose one of ${engineNames.join(", ")}`);
let failures = 0;
for (const { name, isLoose } of places) {
  const { checked, refused, wrong } = await checkShapes(name, { count, seed, isLoose }, open);
  const label = name === "MariaDB" ? `${name}, ${isLoose ? "default" : "binary"} collation` : name;
  for (const { shape, reason } of wrong.slice(0, 10)) console.log(`${label}: ${JSON.stringify(shape)}\n  ${reason}`);
  console.log(`${label}: ${checked} right, ${refused} refused, ${wrong.length} wrong`);
  failures += wrong.length;
}
console.log(
  `shapes: ${count} queries on ${places.length} databases through ${values.through}, ${failures} wrong, seed ${seed}`,
);
if (failures > 0) process.exitCode = 1;
