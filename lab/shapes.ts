import { parseArgs } from "node:util";
import { generatePrismaClient } from "../scripts/prisma/generate-prisma-client.ts";
import { propertySeed } from "./seeds/property-seed.ts";

// npm run shapes -- [--count 20000] [--seed 7] [--through drizzle|prisma] [--only PostgreSQL]
// Makes queries of many shapes (joins, subqueries, WITH, unions, computed and renamed columns), takes a quarter from a list of queries
// that applications write, restricts each by a rule and a filter, and compares its rows and totals with what JavaScript finds. Without --seed, PORTICO_SEED sets the queries. Through Prisma, Kysely's
// queries for PostgreSQL are sent by a generated client, which needs "npm ci --prefix tools/prisma".

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
const { through } = values;
if (!["kysely", "drizzle", "prisma"].includes(through))
  throw new Error(`--through ${through}: choose kysely, drizzle or prisma`);
// The engines read it while they are loaded.
if (through === "prisma") process.env["PORTICO_PRISMA"] = generatePrismaClient();
const { engineNames } = await import("./servers/engines.ts");
const { checkShapes, shapesOfKysely } = await import("./shapes/check-shapes.ts");
const { checkForeignQueries } = await import("./shapes/check-foreign-queries.ts");
const { shapesOfDrizzle } = await import("./shapes/drizzle-shape.ts");

const open = through === "drizzle" ? shapesOfDrizzle : shapesOfKysely;
const only = values.only ?? (through === "prisma" ? "PostgreSQL" : undefined);
const places = engineNames
  .filter((name) => only === undefined || only === name)
  .flatMap((name) => (name === "MariaDB" ? [false, true] : [false]).map((isLoose) => ({ name, isLoose })));
if (places.length === 0) throw new Error(`--only ${only}: choose one of ${engineNames.join(", ")}`);
// Those of an application are written for Kysely.
const foreign = through === "drizzle" ? 0 : Math.ceil(count / 4);
let failures = 0;
for (const { name, isLoose } of places) {
  const generated = await checkShapes(name, { count: count - foreign, seed, isLoose }, open);
  const written = await checkForeignQueries(name, { count: foreign, seed, isLoose });
  const checked = generated.checked + written.checked;
  const refused = generated.refused + written.refused;
  const wrong = [...generated.wrong, ...written.wrong];
  const label = name === "MariaDB" ? `${name}, ${isLoose ? "default" : "binary"} collation` : name;
  for (const { shape, reason } of wrong.slice(0, 10)) console.log(`${label}: ${JSON.stringify(shape)}\n  ${reason}`);
  const merges = name === "PostgreSQL" ? `, ${generated.merged} merged from the values of a rule` : "";
  console.log(`${label}: ${checked} right, ${refused} refused, ${wrong.length} wrong${merges}`);
  failures += wrong.length;
}
console.log(
  `shapes: ${count} queries on ${places.length} databases through ${through}, ${failures} wrong, seed ${seed}`,
);
if (failures > 0) process.exitCode = 1;
