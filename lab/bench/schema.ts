import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { transformSync } from "esbuild";
import { generators, HARNESS, TYPES } from "./schema-rivals.ts";

const RUNS = 7;
const root = resolve(import.meta.dirname, "../..");
const place = join(root, ".cache/bench-schema");

/** The versions that Portico is measured beside. */
const rivals = {
  "@pothos/core": "4.15.1",
  "type-graphql": "2.0.0-rc.4",
  "graphql-scalars": "1.25.0",
  "class-validator": "0.14.3",
  "reflect-metadata": "0.2.2",
  graphql: "16.15.0",
};

interface Figures {
  /** Declaring and building, in milliseconds of CPU. */
  readonly build: number;
  /** Type-checking, in seconds of CPU. */
  readonly check: number;
}

/** Builds and type-checks the same 500 types with 6 fields each in Portico, Pothos and TypeGraphQL. */
export async function run(): Promise<void> {
  prepare();
  console.log(`${TYPES} types with 6 fields each; CPU time, the middle of ${RUNS} runs in turn`);
  console.log(`${"".padEnd(14)}${"declare and build".padStart(20)}${"type-check".padStart(14)}`);
  const figures = measure();
  for (const [name, { build, check }] of Object.entries(figures))
    console.log(`${name.padEnd(14)}${`${build.toFixed(0)} ms`.padStart(20)}${`${check.toFixed(2)} s`.padStart(14)}`);
  const { portico, pothos } = figures;
  if (portico === undefined || pothos === undefined) throw new Error("there is nothing to compare");
  const share = portico.check / pothos.check;
  const ratio = portico.build / pothos.build;
  const isReached = share <= 0.25 && ratio <= 1;
  console.log(
    `schema: type-check ${share.toFixed(2)} of Pothos's CPU time, build ${ratio.toFixed(2)} of it (goal 0.25 and 1.00: ${isReached ? "reached" : "not reached"})`,
  );
}

function prepare(): void {
  rmSync(join(place, "src"), { recursive: true, force: true });
  mkdirSync(join(place, "src"), { recursive: true });
  writeFileSync(join(place, "package.json"), JSON.stringify({ private: true, type: "module", dependencies: rivals }));
  command("npm install --no-audit --no-fund --loglevel=error", place);
  // Portico as an application has it: JavaScript and declarations, beside the same copy of graphql.
  command(
    `node ${join(root, "node_modules/typescript/bin/tsc")} -p tsconfig.build.json --outDir ${join(place, "node_modules/portico/dist")}`,
    root,
  );
  writeFileSync(
    join(place, "node_modules/portico/package.json"),
    JSON.stringify({
      name: "portico",
      type: "module",
      exports: { ".": "./dist/index.js", "./graphql": "./dist/graphql/index.js" },
    }),
  );
  writeFileSync(join(place, "measure.mjs"), HARNESS);
  for (const [name, generate] of Object.entries(generators)) {
    const code = generate();
    writeFileSync(join(place, "src", `${name}.ts`), code);
    const compilerOptions = { experimentalDecorators: true, target: "ES2024" };
    writeFileSync(
      join(place, "src", `${name}.js`),
      transformSync(code, { loader: "ts", tsconfigRaw: { compilerOptions } }).code,
    );
    writeFileSync(join(place, `tsconfig.${name}.json`), JSON.stringify(project(name)));
  }
}

function project(name: string): object {
  return {
    compilerOptions: {
      target: "ES2024",
      lib: ["ESNext"],
      module: "nodenext",
      strict: true,
      skipLibCheck: true,
      noEmit: true,
      types: [],
      experimentalDecorators: name === "typegraphql",
      typeRoots: [],
    },
    files: [`src/${name}.ts`],
  };
}

function measure(): Record<string, Figures> {
  const names = Object.keys(generators);
  const builds = new Map<string, number[]>(names.map((name) => [name, []]));
  const checks = new Map<string, number[]>(names.map((name) => [name, []]));
  for (let round = 0; round < RUNS; round++) {
    for (const name of names) {
      builds.get(name)?.push(Number(command(`node measure.mjs ./src/${name}.js`, place)));
      checks
        .get(name)
        ?.push(cpuSeconds(`node ${join(root, "node_modules/typescript/bin/tsc")} -p tsconfig.${name}.json`));
    }
  }
  return Object.fromEntries(
    names.map((name) => [name, { build: median(builds.get(name)), check: median(checks.get(name)) }]),
  );
}

/** User and system time of a command and all that it starts: the last line of the shell's `times`. */
function cpuSeconds(line: string): number {
  const times = command(`${line} && times`, place).trim().split("\n").at(-1) ?? "";
  const parts = [...times.matchAll(/(\d+)m([\d.]+)s/g)].map(
    ([, minutes, seconds]) => Number(minutes) * 60 + Number(seconds),
  );
  return parts.reduce((sum, part) => sum + part, 0);
}

function command(line: string, cwd: string): string {
  const { status, stdout, stderr } = spawnSync("bash", ["-c", line], { cwd, encoding: "utf8", maxBuffer: 2 ** 26 });
  if (status !== 0) throw new Error(`${line}\n${stdout.slice(0, 4000)}${stderr.slice(0, 4000)}`);
  return stdout;
}

function median(values: readonly number[] | undefined): number {
  return values?.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

if (import.meta.main) await run();
