import { mkdirSync, writeFileSync } from "node:fs";

const FOLDER = new URL("../results/", import.meta.url);

/** Writes the results of a full run, from which `npm run figures` fills the tables of the documentation. */
export function keepResults(name: string, results: object, plot?: string): void {
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(new URL(`${name}.json`, FOLDER), `${JSON.stringify(results, null, 2)}\n`);
  if (plot !== undefined) writeFileSync(new URL(`${name}.svg`, FOLDER), plot);
}

/** The major version of Node that runs the benchmark. */
export const nodeMajor: string = process.versions.node.split(".")[0] ?? "";
