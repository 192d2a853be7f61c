import { existsSync, globSync, readFileSync, writeFileSync } from "node:fs";
import type { DeepResults } from "./bench/deep.ts";
import type { SimulationResults } from "./bench/simulate.ts";
import type { FailoverResults } from "./failover.ts";
import { cells } from "./faults/cells.ts";
import { faultTable } from "./faults/print-table.ts";
import { deepTable } from "./figures/deep-table.ts";
import { failoverTable } from "./figures/failover-table.ts";
import { type GauntletResults, gauntletTables } from "./figures/gauntlet-tables.ts";
import { nightlyTable } from "./figures/nightly-table.ts";
import { performancePlots } from "./figures/plots.ts";
import { type ReliabilityResults, reliabilityTables } from "./figures/reliability-tables.ts";
import { scalingTables } from "./figures/scaling-tables.ts";
import type { Results } from "./nightly/results.ts";

// npm run figures: fills the performance figures of the documentation from lab/bench/results, and draws its pictures. With --check
// it only compares them.

/** The parts of a file in `lab/bench/results` that the documentation shows. */
export interface BenchResults {
  readonly node: string;
  /** The major version of graphql that Portico ran on. */
  readonly graphql?: string;
  readonly figures: readonly { readonly row: string; readonly workload: string; readonly micros: number }[];
}

/** Reads a file of `lab/bench/results`, by its name without the ending. */
type Source = (name: string) => BenchResults;

const BLOCK = /(?<=<!-- figures: (?<name>\S+) -->\n).*?(?=<!-- end of figures -->)/gs;
const BASE = "graphql-js 16";
const WORKLOADS = ["A", "B", "C", "D", "E"];
const VERSIONS = ["versions-node22-graphql16", "versions-node24-graphql16", "versions-node26-graphql17"];

const blocks: Readonly<Record<string, (source: Source) => string>> = {
  graphql(source) {
    const { node, figures } = source("graphql-node24-graphql16");
    const rows = [...new Set(figures.map(({ row }) => row))].filter((row) => isCell(figures, row, "B"));
    return [
      `| Node ${node.slice(1)} | ${WORKLOADS.join(" | ")} |`,
      `|---|${WORKLOADS.map(() => "--:|").join("")}`,
      ...rows.map((row) => {
        const cells = WORKLOADS.map((workload) => {
          const micros = microsOf(figures, row, workload);
          return `${whole(micros)} µs (${(microsOf(figures, BASE, workload) / micros).toFixed(2)})`;
        });
        return `| ${row} | ${cells.join(" | ")} |`;
      }),
      ...(isCell(figures, "Portico", "G")
        ? [
            "",
            `Workload G costs Portico ${whole(microsOf(figures, "Portico", "G"))} µs. The other servers have no equivalent.`,
          ]
        : []),
    ].join("\n");
  },
  versions(source) {
    const workloads = [...WORKLOADS, "G"];
    const { figures: usual } = source("versions-node24-graphql16");
    return [
      `| Portico on | ${workloads.join(" | ")} |`,
      `|---|${workloads.map(() => "--:|").join("")}`,
      ...VERSIONS.map((name) => {
        const { node, graphql, figures } = source(name);
        const cells = workloads.map((workload) =>
          (microsOf(figures, "Portico", workload) / microsOf(usual, "Portico", workload)).toFixed(2),
        );
        return `| Node ${node.slice(1)}, graphql ${graphql} | ${cells.join(" | ")} |`;
      }),
    ].join("\n");
  },
  readme(source) {
    const { node, figures } = source("graphql-node24-graphql16");
    const perSecond = (row: string, workload: string): string =>
      Math.round(Number((1_000_000 / microsOf(figures, row, workload)).toPrecision(2))).toLocaleString("en");
    return [
      `| GraphQL requests per second per core, on Node ${node.slice(1)} | \`{ hello }\` | a list with 500 values |`,
      "|---|--:|--:|",
      ...["Portico", "Mercurius + jit", "Mercurius", "Yoga + jit", "Yoga", "Apollo Server"].map(
        (row) => `| ${row} | ${perSecond(row, "A")} | ${perSecond(row, "B")} |`,
      ),
    ].join("\n");
  },
  http(source) {
    const { node, figures } = source("http-node24");
    const rows = [...new Set(figures.map(({ row }) => row))];
    const cell = (row: string, workload: string): string =>
      isCell(figures, row, workload) ? `${microsOf(figures, row, workload).toFixed(1)} µs` : "";
    return [
      `| Node ${node.slice(1)} | GET | gated POST |`,
      "|---|--:|--:|",
      ...rows.map((row) => `| ${row} | ${cell(row, "GET")} | ${cell(row, "gated POST")} |`),
    ].join("\n");
  },
  hooks(source) {
    const { node, figures } = source("hooks-node24");
    const rows: readonly (readonly [title: string, row: string])[] = [
      ["All four, with a tracer that does nothing", "all built-in hooks"],
      ["`opentelemetry` with OpenTelemetry's own tracer", "opentelemetry, the real tracer"],
      ["`opentelemetry` with that tracer and `active: true`", "opentelemetry, the real tracer, active"],
      ["`OperationLog` with `trace: true`", "OperationLog with trace"],
    ];
    return [
      `| Hooks, on Node ${node.slice(1)} | CPU time per operation |`,
      "|---|--:|",
      ...rows.map(([title, row]) => `| ${title} | ${Math.max(0, microsOf(figures, row, "extra")).toFixed(1)} µs |`),
    ].join("\n");
  },
  gauntlet(source) {
    return gauntletTables(source("gauntlet") as unknown as GauntletResults);
  },
  deep(source) {
    return deepTable(source("deep") as unknown as DeepResults);
  },
  reliability(source) {
    return reliabilityTables(source("reliability") as unknown as ReliabilityResults);
  },
  nightly(source) {
    return nightlyTable(source("nightly") as unknown as Results);
  },
  failover(source) {
    return failoverTable(source("failover") as unknown as FailoverResults);
  },
  scaling(source) {
    return scalingTables(source("simulation") as unknown as SimulationResults);
  },
  accounts(source) {
    const { node, figures } = source("accounts-node24");
    const rows: readonly (readonly [title: string, workload: string])[] = [
      ["A sign-in with a session", "login"],
      ["A sign-in with tokens", "token"],
      ["A request with a session", "request"],
      ["A request with a token", "tokenRequest"],
    ];
    const cell = (row: string, workload: string): string => {
      const micros = microsOf(figures, row, workload);
      return `${(micros / 1_000).toPrecision(2)} ms (${Math.round(1_000_000 / micros).toLocaleString("en")} per second)`;
    };
    return [
      `| CPU time on Node ${node.slice(1)}, and operations per second and core | users in PostgreSQL, the rest in Redis | everything in PostgreSQL |`,
      "|---|--:|--:|",
      ...rows.map(([title, workload]) => `| ${title} | ${cell("Redis", workload)} | ${cell("PostgreSQL", workload)} |`),
    ].join("\n");
  },
  faults: () => faultTable(cells),
};

/** Replaces the text between `<!-- figures: name -->` and `<!-- end of figures -->` by the figures of that name. */
export function fillFigures(text: string, source: Source): string {
  return text.replace(BLOCK, (...match) => {
    const { name } = match.at(-1) as { readonly name: string };
    const block = blocks[name];
    if (block === undefined)
      throw new Error(`there are no figures named ${name}: use ${Object.keys(blocks).join(", ")}`);
    return `${block(source)}\n`;
  });
}

/** The lines with a time in microseconds that does not come from `lab/bench/results`. */
export function strayFigures(text: string): readonly string[] {
  const stray = /\d\s*(?:µs|microseconds?\b)/;
  return text
    .replace(BLOCK, "")
    .split("\n")
    .filter((line) => stray.test(line));
}

function isCell(figures: BenchResults["figures"], row: string, workload: string): boolean {
  return figures.some((figure) => figure.row === row && figure.workload === workload);
}

function microsOf(figures: BenchResults["figures"], row: string, workload: string): number {
  const figure = figures.find((found) => found.row === row && found.workload === workload);
  if (figure === undefined) throw new Error(`lab/bench/results has no figure for ${row}, ${workload}`);
  return figure.micros;
}

const whole = (micros: number): string => Math.round(micros).toLocaleString("en");

if (import.meta.main) {
  const isCheck = process.argv.includes("--check");
  const source: Source = (name) => JSON.parse(readFileSync(`lab/bench/results/${name}.json`, "utf8")) as BenchResults;
  const outdated: string[] = [];
  const stray: string[] = [];
  // A decision record keeps the figures that it was based on.
  const exclude = ["docs/.vitepress/**", "docs/decisions/**"];
  for (const file of ["README.md", ...globSync("docs/**/*.md", { exclude })]) {
    const text = readFileSync(file, "utf8");
    stray.push(...strayFigures(text).map((line) => `${file}: ${line}`));
    const filled = fillFigures(text, source);
    if (filled === text) continue;
    outdated.push(file);
    if (!isCheck) writeFileSync(file, filled);
  }
  for (const [file, picture] of Object.entries(performancePlots(source))) {
    if (existsSync(file) && readFileSync(file, "utf8") === picture) continue;
    outdated.push(file);
    if (!isCheck) writeFileSync(file, picture);
  }
  console.log(`figures: ${outdated.length} files ${isCheck ? "outdated" : "written"}`);
  if (isCheck && outdated.length > 0)
    console.error(`run "npm run figures": the figures differ from lab/bench/results in ${outdated.join(", ")}`);
  for (const line of stray) console.error(`not from lab/bench/results: ${line}`);
  if (stray.length > 0 || (isCheck && outdated.length > 0)) process.exitCode = 1;
}
