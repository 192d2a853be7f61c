import type { DeepResults } from "../bench/deep.ts";
import type { BenchResults } from "../figures.ts";
import { type BarGroup, barChart } from "./bar-chart.ts";

type Read = (name: string) => unknown;

const WORKLOADS: readonly (readonly [workload: string, title: string])[] = [
  ["A", "A: a single field"],
  ["B", "B: a list with 500 values"],
  ["D", "D: that list, with a new document each time"],
];
const CPU_TIME = "CPU time per request, less is better";
const VERSIONS = ["versions-node22-graphql16", "versions-node24-graphql16", "versions-node26-graphql17"];

/** The pictures of the performance page by their paths, drawn from `lab/bench/results`. */
export function performancePlots(read: Read): Readonly<Record<string, string>> {
  return {
    "docs/performance-graphql.svg": barChart(graphql(read("graphql-node24-graphql16") as BenchResults)),
    "docs/performance-versions.svg": barChart(versions(VERSIONS.map((name) => read(name) as BenchResults))),
    "docs/performance-rest.svg": barChart(rest(read("http-node24") as BenchResults)),
    "docs/performance-lists.svg": barChart(lists(read("deep") as DeepResults)),
  };
}

function graphql({ figures }: BenchResults): readonly BarGroup[] {
  return WORKLOADS.map(([workload, title]) => ({
    title,
    measure: CPU_TIME,
    bars: figures
      .filter((figure) => figure.workload === workload && !/^constant|,/.test(figure.row))
      .map(({ row, micros }) => ({ name: row, value: micros, label: time(micros) })),
  }));
}

function versions(results: readonly BenchResults[]): readonly BarGroup[] {
  return WORKLOADS.map(([workload, title]) => ({
    title,
    measure: `${CPU_TIME}, relative to Node 24`,
    bars: results.map(({ node, graphql, figures }) => {
      const value = micros(figures, workload) / micros(results[1]?.figures ?? [], workload);
      return { name: `Node ${node.slice(1).split(".")[0]}, graphql ${graphql}`, value, label: value.toFixed(2) };
    }),
  }));
}

function micros(figures: BenchResults["figures"], workload: string): number {
  return figures.find((figure) => figure.workload === workload && figure.row === "Portico")?.micros ?? Number.NaN;
}

function rest({ figures }: BenchResults): readonly BarGroup[] {
  const titles = { GET: "GET", "gated POST": "POST with an auth check and a validated body" };
  return Object.entries(titles).map(([workload, title]) => ({
    title,
    measure: CPU_TIME,
    bars: figures
      .filter((figure) => figure.workload === workload)
      .map(({ row, micros }) => ({ name: row, value: micros, label: `${micros.toFixed(1)} µs` })),
  }));
}

function lists({ rows, figures }: DeepResults): readonly BarGroup[] {
  const along = figures.filter(({ list, direction }) => list === "one list" && direction === "forward");
  return [
    {
      title: `A page of 20, of a table with ${rows.toLocaleString("en")} rows`,
      measure: "Blocks that PostgreSQL reads, less is better",
      bars: along.map(({ depth, buffers }) => ({
        name: depth === 0 ? "first page" : `after ${depth.toLocaleString("en")} rows`,
        value: buffers,
        label: String(buffers),
      })),
    },
  ];
}

function time(micros: number): string {
  return `${Math.round(micros).toLocaleString("en")} µs`;
}
