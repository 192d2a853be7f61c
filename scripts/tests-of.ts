import { join, relative, resolve, sep } from "node:path";
import { parseArgs } from "node:util";
import { runTests } from "./affected/run-tests.ts";
import { readRecords } from "./affected/test-record.ts";

// npm run tests-of <file>: prints the test files that ran code of a source file when they were recorded, or read it.
const root = join(import.meta.dirname, "..");

function testsOf(): number {
  const { values, positionals } = parseArgs({ options: { run: { type: "boolean" } }, allowPositionals: true });
  const [path] = positionals;
  if (path === undefined) return complain("Usage: npm run tests-of <file> [-- --run]");
  const file = relative(root, resolve(path)).replaceAll(sep, "/");
  const tests = [...readRecords(root)].filter(([, { files }]) => Object.hasOwn(files, file)).map(([test]) => test);
  if (tests.length === 0)
    return complain(`No record of a test contains ${file}. PORTICO_RECORD=1 npm test writes them.`);
  for (const test of tests.toSorted()) console.log(test);
  return values.run === true ? runTests(root, tests) : 0;
}

function complain(message: string): number {
  console.error(message);
  return 1;
}

process.exitCode = testsOf();
