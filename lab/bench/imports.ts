import { execFile } from "node:child_process";
import { promisify } from "node:util";
import manifest from "../../package.json" with { type: "json" };
import { folderWithPackage } from "../../scripts/package/built-package.ts";
import { root } from "../../scripts/package/repository.ts";

const isShort = process.argv.includes("--short");
const ROUNDS = isShort ? 5 : 21;

const doors = Object.entries(manifest.exports).flatMap(([door, target]) =>
  typeof target === "string" ? [] : [door.replace(/^\./, "portico")],
);

/** A program that imports one thing and says what that took. The clock starts after Node's own start. */
const program = (specifier: string): string => `
const cpu = process.cpuUsage();
const start = performance.now();
await import(${JSON.stringify(specifier)});
const wallMs = performance.now() - start;
const { user, system } = process.cpuUsage(cpu);
console.log(JSON.stringify({ wallMs, cpuMs: (user + system) / 1000 }));
process.exit();
`;

interface Time {
  readonly wallMs: number;
  readonly cpuMs: number;
}

/**
 * What importing each door of the built package takes, beside bare Fastify: the median over processes that import one thing
 * each, in turn. Files are in the cache of the system by then, so it is the time to compile and run them.
 */
export async function run(): Promise<void> {
  const folder = await folderWithPackage("bench-imports");
  const subjects = [
    { name: "fastify", cwd: root, specifier: "fastify" },
    ...doors.map((door) => ({ name: door, cwd: folder, specifier: door })),
  ];
  const times = new Map<string, Time[]>(subjects.map(({ name }) => [name, []]));
  for (let round = 0; round <= ROUNDS; round++)
    for (const { name, cwd, specifier } of subjects) {
      const time = await measure(cwd, specifier);
      if (round > 0) times.get(name)?.push(time);
    }

  const medians = new Map(
    [...times].map(([name, all]) => [
      name,
      { wall: median(all.map(({ wallMs }) => wallMs)), cpu: median(all.map(({ cpuMs }) => cpuMs)) },
    ]),
  );
  const bare = medians.get("fastify")?.cpu ?? Number.NaN;
  console.log(`import times, the median of ${ROUNDS} processes each, on Node ${process.versions.node}`);
  for (const [name, { wall, cpu }] of medians)
    console.log(
      `  ${name.padEnd(20)} ${wall.toFixed(0).padStart(5)} ms, ${cpu.toFixed(0).padStart(5)} ms of CPU, ${(cpu / bare).toFixed(2)} of bare Fastify`,
    );
  const ratio = (medians.get("portico")?.cpu ?? Number.NaN) / bare;
  console.log(`bench imports: portico takes ${ratio.toFixed(2)} of the CPU that bare Fastify takes`);
}

async function measure(cwd: string, specifier: string): Promise<Time> {
  const args = ["--input-type=module", "--eval", program(specifier)];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd });
  return JSON.parse(stdout) as Time;
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
