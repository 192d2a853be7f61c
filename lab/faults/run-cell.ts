import { setTimeout as sleep } from "node:timers/promises";
import { AppProcess } from "./app-process.ts";
import type { RunCell, Scene, Seen } from "./cell.ts";
import { differences, lateDifferences } from "./differences.ts";
import { lost } from "./lost.ts";
import { Traffic } from "./traffic.ts";

/** The deadline of the application, with the second after which it ends itself and the one after which it is killed. */
const SHUTDOWN_MS = 5_000;
/** Until a new process is scheduled and its end noticed on a busy machine. */
const NOTICE_MS = 1_000;
const CELL_MS = 20_000;
const BETWEEN_MS = 200;

/** The result of a cell. */
export interface Outcome {
  /** What differs from what was expected. Empty if nothing does. */
  readonly faults: readonly string[];
  /** How long the process took to end with the fault in place; `null` if it was not started or did not end. */
  readonly shutdownMs: number | null;
  /** How long a request of the clients took at most, from the fault to the shutdown; `null` if there was none. */
  readonly slowestMs: number | null;
  /** The sentences in the log of the process, each once. */
  readonly log: readonly string[];
}

/** Starts an application, breaks something, compares what an operator sees, and shuts the application down meanwhile. */
export async function runCell({ sees, start }: RunCell): Promise<Outcome> {
  const scene = await start();
  let app: AppProcess | null = null;
  try {
    app = await AppProcess.start(scene);
    const found = await (sees.startError === undefined ? watch(app, scene, sees) : failedStart(app, scene, sees));
    return { shutdownMs: null, slowestMs: null, ...found, log: sentencesIn(app.log) };
  } finally {
    // The application cannot end while a server that it waits for stays frozen.
    await Promise.all([app?.kill(), scene.remove()]);
    app?.remove();
  }
}

type Found = Pick<Outcome, "faults"> & Partial<Pick<Outcome, "shutdownMs" | "slowestMs">>;

async function watch(app: AppProcess, scene: Scene, sees: Seen): Promise<Found> {
  if (!app.isListening) return { faults: [`it did not start: ${app.log.slice(-500)}`] };
  const traffic = await Traffic.start(app);
  try {
    const isSame = (seen: Seen) => () => differences(app, traffic, scene, seen);
    const before = await patiently(CELL_MS / 2, isSame({}));
    if (before.length > 0) return { faults: before.map((fault) => `before the fault, ${fault}`) };
    const earlier = traffic.failures.length;
    traffic.forgetTimes();
    await scene.break(app);
    if (sees.ends === true) return await endOf(app, traffic, scene, sees);
    const faults = await patiently(CELL_MS, isSame(sees));
    faults.push(...(await lateDifferences(scene, sees)));
    if (sees.isUnnoticed === true) faults.push(...counted(traffic.failures.slice(earlier)));
    const { slowestMs } = traffic;
    const shutdownMs = await app.shutDown(SHUTDOWN_MS + NOTICE_MS);
    if (shutdownMs === null) faults.push("it did not end within its deadline");
    else if (app.exitCode !== 0 && sees.isForced !== true) faults.push(`it ended with ${app.exitCode} instead of 0`);
    return { faults: [...faults, ...(await losses(app, traffic, scene))], shutdownMs, slowestMs };
  } finally {
    await traffic.stop();
  }
}

async function failedStart(app: AppProcess, scene: Scene, sees: Seen): Promise<Found> {
  if (app.isListening) return { faults: ["it started"] };
  const hasEnded = await app.ends(SHUTDOWN_MS);
  return {
    faults: [
      ...(hasEnded ? [] : ["it did not end"]),
      ...missingLine(app, sees.startError ?? ""),
      ...(await lateDifferences(scene, sees)),
    ],
  };
}

async function endOf(app: AppProcess, traffic: Traffic, scene: Scene, { log }: Seen): Promise<Found> {
  if (!(await app.ends(CELL_MS))) return { faults: ["it did not end"] };
  return { faults: [...missingLine(app, log ?? ""), ...(await losses(app, traffic, scene))] };
}

function sentencesIn(log: string): readonly string[] {
  const sentences = log.split("\n").map((line) => {
    if (!line.startsWith("{")) return line;
    const { msg, err } = JSON.parse(line) as { readonly msg: string; readonly err?: { readonly message: string } };
    return err === undefined ? msg : `${msg} (${err.message})`;
  });
  return [...new Set(sentences)];
}

function missingLine(app: AppProcess, sentence: string): readonly string[] {
  return app.log.includes(sentence) ? [] : [`no line "${sentence}" in the log`];
}

/** What was acknowledged and is not there, and users who were mistaken for others. */
async function losses(app: AppProcess, traffic: Traffic, scene: Scene): Promise<readonly string[]> {
  await app.kill();
  await traffic.stop();
  await scene.end?.();
  const [rows, revocations] = [await scene.rows?.(), await scene.revocations?.()];
  return [
    ...traffic.mistakes,
    ...(rows === undefined ? [] : lost("rows", traffic.rows, rows)),
    ...(revocations === undefined ? [] : lost("revocations", traffic.revocations, revocations)),
    ...((await scene.losses?.()) ?? []),
  ];
}

/** Each failure once, with how often it occurred. */
function counted(failures: readonly string[]): readonly string[] {
  return [...new Set(failures)].map(
    (failure) => `${failures.filter((other) => other === failure).length} requests failed meanwhile: ${failure}`,
  );
}

/** What differs from the expectation, as soon as nothing does or when the time is over. */
async function patiently(patienceMs: number, compare: () => Promise<readonly string[]>): Promise<string[]> {
  const end = performance.now() + patienceMs;
  for (;;) {
    const found = await compare();
    if (found.length === 0 || performance.now() > end) return [...found];
    await sleep(BETWEEN_MS);
  }
}
