import { join } from "node:path";
import { parseArgs } from "node:util";
import { git } from "./affected/git.ts";
import { readRepository } from "./affected/read-repository.ts";
import { runTests } from "./affected/run-tests.ts";
import { type Selection, selectTests } from "./affected/select-tests.ts";
import { recordsFolder } from "./affected/test-record.ts";

// npm run test:affected: runs the tests that the changes since a commit can affect.
const root = join(import.meta.dirname, "..");

function affected(): number {
  const { values } = parseArgs({ options: { since: { type: "string" }, list: { type: "boolean", default: false } } });
  const repository = readRepository(root, values.since ?? defaultCommit());
  if (repository.records.size === 0) {
    console.log(`There are no records in ${recordsFolder}, so all tests run. PORTICO_RECORD=1 npm test writes them.`);
    return values.list ? 0 : runTests(root);
  }
  const selection = selectTests(repository);
  console.log(summary(selection, repository.tests.length));
  if (values.list) for (const [test, reason] of selection.tests) console.log(`${test}: ${reason}`);
  if (values.list || selection.tests.size === 0) return 0;
  return selection.everything === null ? runTests(root, [...selection.tests.keys()]) : runTests(root);
}

/** The commit that the branch started from. Without a remote, only uncommitted changes are considered. */
function defaultCommit(): string {
  const hasRemote = git(root, "branch", "--remotes", "--list", "origin/main") !== "";
  return hasRemote ? git(root, "merge-base", "HEAD", "origin/main").trim() : "HEAD";
}

function summary({ everything, tests }: Selection, total: number): string {
  const counted = `${tests.size} of ${total} test files`;
  if (everything !== null) return `${counted}: ${everything}`;
  const groups = Object.entries(Object.groupBy(tests, ([, reason]) => reason));
  return [counted, ...groups.map(([reason, group = []]) => `  ${group.length}: ${reason}`)].join("\n");
}

process.exitCode = affected();
