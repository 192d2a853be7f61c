import { globSync, readFileSync, writeFileSync } from "node:fs";

// npm run figures: fills the performance figures of the documentation from bench/results. With --check it only compares them.

/** The parts of a file in `bench/results` that the documentation shows. */
export interface BenchResults {
  readonly node: string;
  readonly figures: readonly { readonly row: string; readonly workload: string; readonly micros: number }[];
}

/** Reads a file of `bench/results`, by its name without the ending. */
type Source = (name: string) => BenchResults;

const BLOCK = /(?<=<!-- figures: (?<name>\S+) -->\n).*?(?=<!-- end of figures -->)/gs;
const BASE = "graphql-js 16";
const WORKLOADS = ["A", "B", "C", "D", "E"];

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
    ].join("\n");
  },
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

function isCell(figures: BenchResults["figures"], row: string, workload: string): boolean {
  return figures.some((figure) => figure.row === row && figure.workload === workload);
}

function microsOf(figures: BenchResults["figures"], row: string, workload: string): number {
  const figure = figures.find((found) => found.row === row && found.workload === workload);
  if (figure === undefined) throw new Error(`bench/results has no figure for ${row}, ${workload}`);
  return figure.micros;
}

const whole = (micros: number): string => Math.round(micros).toLocaleString("en");

if (import.meta.main) {
  const isCheck = process.argv.includes("--check");
  const source: Source = (name) => JSON.parse(readFileSync(`bench/results/${name}.json`, "utf8")) as BenchResults;
  const outdated: string[] = [];
  for (const file of ["README.md", ...globSync("docs/**/*.md", { exclude: ["docs/.vitepress/**"] })]) {
    const text = readFileSync(file, "utf8");
    const filled = fillFigures(text, source);
    if (filled === text) continue;
    outdated.push(file);
    if (!isCheck) writeFileSync(file, filled);
  }
  console.log(`figures: ${outdated.length} files ${isCheck ? "outdated" : "written"}`);
  if (isCheck && outdated.length > 0) {
    console.error(`run "npm run figures": other figures than in bench/results stand in ${outdated.join(", ")}`);
    process.exitCode = 1;
  }
}
