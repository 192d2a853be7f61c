/** The folders whose arrays are filled while the application is built, or by a tool. */
const BUILT =
  /^src\/(?:audit|cli|testing|graphql\/(?:adopt|hooks|limits|schema|execute\/plan)|http\/routing|kernel\/hooks)\//;

/** The files with an array that has no limit of its own, and the limit that applies to it. */
const limited: Readonly<Record<string, string>> = {
  "src/auth/passwords/hash-queue.ts": "its caller refuses beyond the limit",
  "src/core/work/batch-queue.ts": "the items of one turn, whose operation has a limit of objects",
  "src/core/log/log-output.ts": "the bytes that wait",
  "src/core/work/event-loop-turns.ts": "the requests in progress, and the subscribers of the process",
  "src/dependencies/dependency-scope.ts": "the dependencies that the code declares",
  "src/graphql/operation/open-batches.ts": "the batches of one operation, whose fields are limited",
  "src/kernel/events/event-hold.ts": "the events of one transaction",
  "src/portico-app.ts": "the hooks of the application",
  "src/sql/database/after-commit.ts": "the work of one transaction",
  "src/sql/database/permits.ts": "the requests in progress, each for a time limit",
  "src/sql/database/replicas/replica-set.ts": "the positions of the last seconds",
  "src/stores/subscription.ts": "the readers of one subscription",
};

/** The reason why a file may not push to an array of its class without comparing its length with anything, or undefined. */
export function queueFault(file: string, field: string, compared: ReadonlySet<string>): string | undefined {
  if (!file.startsWith("src/") || BUILT.test(file) || file in limited || compared.has(field)) return undefined;
  return `#${field} grows without a limit: compare its length with one before this, because clients may decide how much is added`;
}
