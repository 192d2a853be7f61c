import { keepResults } from "./bench/graphql/keep-results.ts";
import { type Load, runScenario, type Verdict } from "./failover/run-scenario.ts";
import { scenarios } from "./failover/scenarios.ts";

// npm run failover: kills and splits the servers behind four processes under load, and checks what callers notice.
// --short sends fewer requests; --only <number> runs one of the faults.

const isShort = process.argv.includes("--short");
const only = process.argv.indexOf("--only");
const load: Load = isShort
  ? { perSecond: 60, sockets: 100, seconds: 2 }
  : { perSecond: 500, sockets: 2_000, seconds: 10 };

/** What `lab/bench/results/failover.json` contains. */
export interface FailoverResults {
  readonly node: string;
  readonly load: Load;
  readonly verdicts: readonly Verdict[];
}

const verdicts: Verdict[] = [];
for (const [n, scenario] of scenarios.entries()) {
  if (only > 0 && Number(process.argv[only + 1]) !== n) continue;
  const verdict = await runScenario(scenario, load);
  verdicts.push(verdict);
  console.log(
    `${verdict.name}: ${verdict.requests} requests, ${verdict.rejected} with 503, ${verdict.broken} without a response, ${verdict.unexpected} unexpected; ${verdict.mistaken} as another user, ${verdict.refused} open sessions refused, ${verdict.revived} by an ended session; ${verdict.lost} of ${verdict.sessions} sessions lost, the oldest ${Math.round(verdict.lossWindowMs)} ms before the fault; recovered after ${(verdict.recoveryMs / 1_000).toFixed(1)} s, ${verdict.reconnects} reconnects`,
  );
}
if (!isShort && only < 0) keepResults("failover", { node: process.version, load, verdicts } satisfies FailoverResults);
const wrong = verdicts.filter(
  ({ name, mistaken, refused, revived, unexpected, lost }) =>
    mistaken + revived + unexpected > 0 ||
    // Redis may lose the last sessions in a failover.
    (lost > 0 && name.startsWith("PostgreSQL")) ||
    (lost === 0 && refused > 0),
);
console.log(`failover: ${verdicts.length - wrong.length} passed, ${wrong.length} failed`);
process.exit(wrong.length === 0 ? 0 : 1);
