import { spawnSync } from "node:child_process";

// npm run timing: the tests of equal time at the usual cost of bcrypt, and a flood of sign-ins. It takes some minutes, on a machine
// that does nothing else.
const FILES = ["test/auth/accounts/attacks/timing.quiet.test.ts", "test/auth/accounts/attacks/flood.quiet.test.ts"];
const { status } = spawnSync(
  process.execPath,
  ["node_modules/vitest/vitest.mjs", "run", "--typecheck.enabled=false", ...FILES].concat(process.argv.slice(2)),
  { stdio: "inherit", env: { ...process.env, PORTICO_TIMING: "full" } },
);
process.exitCode = status ?? 1;
