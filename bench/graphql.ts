import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { BenchServer } from "./graphql/bench-server.ts";
import { plotOf } from "./graphql/plot-of.ts";
import { type Figure, Results } from "./graphql/results.ts";
import { workloads } from "./graphql/workloads.ts";

/** Every server that is compared: its script and arguments. */
const servers: Readonly<Record<string, readonly [script: string, ...args: string[]]>> = {
  "constant text": ["peers/constant.js", "text"],
  "constant, parse and stringify": ["peers/constant.js"],
  "graphql-js 16": ["peers/bare.js", "16"],
  "graphql-js 17": ["peers/bare.js", "17"],
  "graphql-jit": ["peers/bare.js", "16", "jit"],
  "Mercurius + jit": ["peers/mercurius.js", "jit"],
  Mercurius: ["peers/mercurius.js"],
  "Yoga + jit": ["peers/yoga.js", "jit"],
  Yoga: ["peers/yoga.js"],
  "Apollo Server": ["peers/apollo.js"],
  "graphql-http": ["peers/graphql-http.js"],
  Portico: ["graphql/portico-server.ts", process.env["PORTICO_GRAPHQL"] ?? "16"],
};

const isShort = process.argv.includes("--short");
const SHORT_ROWS = ["graphql-js 16", "Mercurius + jit", "Portico"];
const GENERATIONS = isShort ? 1 : 3;
const ROUNDS = isShort ? 3 : 5;
const ROUND_MS = isShort ? 300 : 400;

/** Below these shares of a row, the run fails in its short form. */
const GATES: readonly (readonly [workload: string, row: string, least: number])[] = [
  ["A", "graphql-js 16", 0.27],
  ["B", "graphql-js 16", 0.7],
  ["D", "graphql-js 16", 0.6],
];

/**
 * Compares GraphQL servers by the CPU time that a request costs their process, over real sockets. Rounds are interleaved, the
 * processes are started anew several times, and every response is compared with the expected one before anything is timed.
 */
export async function run(): Promise<void> {
  if (!existsSync(new URL("peers/node_modules", import.meta.url)))
    throw new Error("the other servers are missing: run npm ci --prefix bench/peers");
  const rows = Object.keys(servers).filter((name) => !isShort || SHORT_ROWS.includes(name));
  const results = new Results();
  for (let generation = 0; generation < GENERATIONS; generation++) await measure(rows, results);
  const figures = results.figures();
  print(rows, figures);
  if (!isShort) keep(rows, figures);
  const portico = (workload: string, row: string): number => share(figures, row, "Portico", workload);
  for (const [workload, row, least] of GATES)
    if (isShort && portico(workload, row) < least * 0.8) {
      console.log(
        `${workload} is below 0.8 of its gate: ${portico(workload, row).toFixed(2)} of ${row}, gate ${least}`,
      );
      process.exitCode = 1;
    }
  console.log(
    `bench graphql: A ${portico("A", "graphql-js 16").toFixed(2)}, B ${portico("B", "graphql-js 16").toFixed(2)} of graphql-js 16`,
  );
}

async function measure(rows: readonly string[], results: Results): Promise<void> {
  const running: BenchServer[] = [];
  try {
    for (const name of rows) running.push(await BenchServer.start(name, servers[name] ?? [""]));
    for (const server of running)
      for (const workload of Object.keys(workloads)) {
        await server.verify(workload);
        await server.load(workload, ROUND_MS);
      }
    for (let round = 0; round < ROUNDS; round++)
      for (const workload of Object.keys(workloads))
        for (const server of running) results.add(server.name, workload, await server.load(workload, ROUND_MS));
  } finally {
    for (const server of running) server.stop();
  }
}

/** How many requests `row` could serve in the time in which `base` serves one. */
function share(figures: readonly Figure[], base: string, row: string, workload: string): number {
  const cost = (name: string): number =>
    figures.find((figure) => figure.row === name && figure.workload === workload)?.micros ?? Number.NaN;
  return cost(base) / cost(row);
}

function print(rows: readonly string[], figures: readonly Figure[]): void {
  const names = Object.keys(workloads);
  for (const [name, { title }] of Object.entries(workloads)) console.log(`  ${name}: ${title}`);
  console.log("  CPU time per request in microseconds, and in brackets the capacity against graphql-js 16");
  console.log(`  ${"".padEnd(30)}${names.map((name) => name.padStart(16)).join("")}`);
  for (const row of rows) {
    const cells = names.map((workload) => {
      const micros = figures.find((figure) => figure.row === row && figure.workload === workload)?.micros ?? Number.NaN;
      const ratio = share(figures, "graphql-js 16", row, workload);
      return `${micros.toFixed(micros < 100 ? 1 : 0)} (${ratio.toFixed(2)})`.padStart(16);
    });
    console.log(`  ${row.padEnd(30)}${cells.join("")}`);
  }
}

function keep(rows: readonly string[], figures: readonly Figure[]): void {
  const folder = new URL("results/", import.meta.url);
  mkdirSync(folder, { recursive: true });
  const graphql = process.env["PORTICO_GRAPHQL"] ?? "16";
  const name = `graphql-node${process.versions.node.split(".")[0]}-graphql${graphql}`;
  const json = { node: process.version, graphql, rounds: GENERATIONS * ROUNDS, figures };
  writeFileSync(new URL(`${name}.json`, folder), `${JSON.stringify(json, null, 2)}\n`);
  writeFileSync(
    new URL(`${name}.svg`, folder),
    plotOf(rows, (row, workload) => share(figures, "graphql-js 16", row, workload)),
  );
}
