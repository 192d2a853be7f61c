import { existsSync } from "node:fs";
import { BenchServer } from "./graphql/bench-server.ts";
import { documentBytes } from "./graphql/document-bytes.ts";
import { type Gate, graphqlGates } from "./graphql/gates.ts";
import { keepResults, nodeMajor } from "./graphql/keep-results.ts";
import { plotOf } from "./graphql/plot-of.ts";
import { type Figure, Results } from "./graphql/results.ts";
import { graphqlMajor, type Server, servers } from "./graphql/servers.ts";
import { enforce, printVerdicts, verdictsOf } from "./graphql/verdicts.ts";
import { workloads } from "./graphql/workloads.ts";

/** How often and how long each workload of each server is measured. */
interface Plan {
  /** Every generation starts the servers anew. */
  readonly generations: number;
  readonly rounds: number;
}

const FULL: Plan = { generations: 3, rounds: 20 };
const ONCE: Plan = { ...FULL, generations: 1 };
const SHORT: Plan = { generations: 1, rounds: 25 };
/** Rounds that are not measured, in which V8 compiles the server's code. */
const WARM_UP = 30;
const BASE = "graphql-js 16";
/** The rows of `--once`. */
const FEW_ROWS = [BASE, "graphql-js 17", "graphql-jit", "Mercurius + jit", "Portico", "Portico, protections off"];

/**
 * Compares GraphQL servers by the CPU time that a request costs their process, over real sockets. Rounds are interleaved, the
 * processes are started anew several times, and every response is compared with the expected one before anything is timed.
 * With `--once`, for other versions of Node and graphql, some of the servers are measured, and started only once. With
 * `--short`, only the gates of CI are measured, and the process fails below them.
 */
export async function run(): Promise<void> {
  if (!existsSync(new URL("peers/node_modules", import.meta.url)))
    throw new Error("the other servers are missing: run npm ci --prefix lab/bench/peers");
  if (process.argv.includes("--short")) {
    const gates = graphqlGates.filter(({ isInCi }) => isInCi);
    await enforce(async () => verdictsOf(gates, await measure(needed(gates), SHORT)));
    return;
  }
  const isOnce = process.argv.includes("--once");
  const plan = isOnce ? ONCE : FULL;
  const compared = isOnce ? servers.filter(({ row }) => FEW_ROWS.includes(row)) : servers;
  const blocks = await longestBlocks(compared);
  const figures = await measure(compared, plan);
  const verdicts = verdictsOf(graphqlGates, figures).filter(({ measured }) => !Number.isNaN(measured));
  print(compared, figures);
  const { prepared, executed } = await documentBytes();
  console.log(`  a cached document of C takes ${prepared} bytes, ${executed} after its first execution`);
  for (const [row, ms] of blocks)
    console.log(`  ${row}: a request of F blocks the event loop for up to ${ms.toFixed(1)} ms`);
  printVerdicts(verdicts);
  keepResults(
    `${isOnce ? "versions" : "graphql"}-node${nodeMajor}-graphql${graphqlMajor}`,
    {
      node: process.version,
      graphql: graphqlMajor,
      rounds: plan.generations * plan.rounds,
      figures,
      longestBlockMs: Object.fromEntries(blocks),
      documentBytes: { prepared, executed },
      gates: verdicts.map(({ title, unit, gate, goal, measured }) => ({ title, unit, gate, goal, measured })),
    },
    isOnce ? undefined : plotOf(rowsOf(compared.filter(isList)), (row, workload) => share(figures, row, workload)),
  );
}

/** The servers of these gates, each with the workloads that the gates compare. */
function needed(gates: readonly Gate[]): readonly Server[] {
  const cells = gates.flatMap(({ cost, base }) => [cost, base]);
  const isCompared = (server: Server, name: string): boolean =>
    cells.some(([row, workload]) => row === server.row && workload === name);
  return servers
    .map((server) => ({ ...server, workloads: server.workloads.filter((name) => isCompared(server, name)) }))
    .filter((server) => server.workloads.length > 0);
}

async function measure(compared: readonly Server[], plan: Plan): Promise<readonly Figure[]> {
  const results = new Results();
  for (let generation = 0; generation < plan.generations; generation++) await generate(compared, plan, results);
  return results.figures();
}

async function generate(compared: readonly Server[], { rounds }: Plan, results: Results): Promise<void> {
  const running: BenchServer[] = [];
  try {
    for (const server of compared) running.push(await BenchServer.start(server));
    for (const server of running)
      for (const workload of server.workloads) {
        await server.verify(workload);
        for (let round = 0; round < WARM_UP; round++) await server.load(workload);
      }
    for (let round = 0; round < rounds; round++)
      for (const workload of Object.keys(workloads))
        for (const server of running)
          if (server.workloads.includes(workload)) results.add(server.row, workload, await server.load(workload));
  } finally {
    for (const server of running) server.stop();
  }
}

/** How long a request of F blocks the event loop of each server, in milliseconds. */
async function longestBlocks(compared: readonly Server[]): Promise<ReadonlyMap<string, number>> {
  const blocks = new Map<string, number>();
  for (const server of compared.filter(({ workloads: names }) => names.includes("F"))) {
    const running = await BenchServer.start(server);
    try {
      for (let round = 0; round < WARM_UP; round++) await running.verify("F");
      blocks.set(server.row, await running.longestBlockMs("F"));
    } finally {
      running.stop();
    }
  }
  return blocks;
}

const isList = ({ workloads: names }: Server): boolean => names.includes("B");

const rowsOf = (compared: readonly Server[]): readonly string[] => [...new Set(compared.map(({ row }) => row))];

function microsOf(figures: readonly Figure[], row: string, workload: string): number {
  return figures.find((figure) => figure.row === row && figure.workload === workload)?.micros ?? Number.NaN;
}

/** How many requests `row` could serve in the time in which graphql-js 16 serves one. */
function share(figures: readonly Figure[], row: string, workload: string): number {
  return microsOf(figures, BASE, workload) / microsOf(figures, row, workload);
}

function print(compared: readonly Server[], figures: readonly Figure[]): void {
  const names = Object.keys(workloads);
  for (const [name, { title }] of Object.entries(workloads)) console.log(`  ${name}: ${title}`);
  console.log(`  CPU time per request in microseconds, and in brackets the capacity against ${BASE}`);
  console.log(`  ${"".padEnd(30)}${names.map((name) => name.padStart(16)).join("")}`);
  for (const row of rowsOf(compared)) {
    const cells = names.map((workload) => {
      const micros = microsOf(figures, row, workload);
      if (Number.isNaN(micros)) return "".padStart(16);
      const ratio = share(figures, row, workload);
      const brackets = Number.isNaN(ratio) ? "" : ` (${ratio.toFixed(2)})`;
      return `${micros.toFixed(micros < 100 ? 1 : 0)}${brackets}`.padStart(16);
    });
    console.log(`  ${row.padEnd(30)}${cells.join("")}`);
  }
}
