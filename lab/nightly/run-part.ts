import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { bringNode } from "./bring-node.ts";
import type { Command, Form, Part } from "./part.ts";
import { PartLog } from "./part-log.ts";
import type { Result } from "./results.ts";

/** Longer than any part may take, so that only one that hangs is stopped. */
const STOPPED_AFTER_MINUTES = 90;

/** How a part is run. */
export interface PartRun {
  readonly form: Form;
  readonly seed: number;
  readonly day: string;
  /** The folder of the log. */
  readonly folder: string;
  /** @default 90 */
  readonly stoppedAfterMinutes?: number;
}

/** Runs the commands of a part, and returns how they ended. Their output goes to the terminal and to `<folder>/<part>.log`. */
export async function runPart(part: Part, { form, seed, day, folder, ...limits }: PartRun): Promise<Result> {
  const began = performance.now();
  const deadline = began + (limits.stoppedAfterMinutes ?? STOPPED_AFTER_MINUTES) * 60_000;
  mkdirSync(folder, { recursive: true });
  const log = new PartLog(join(folder, `${part.name}.log`));
  let node = process.version;
  let failure: string | null = null;
  try {
    if (part.node !== undefined) node = bringNode(part.node).version;
    if (part.written !== undefined) rmSync(part.written.file, { force: true });
    const commands = [...(part.needs ?? []).filter(isOutdated).map(install), ...part.commands(form, seed)];
    for (const command of commands) failure ??= await run(command, log, deadline);
    if (form === "long" && part.written !== undefined && existsSync(part.written.file))
      part.written.publish(JSON.parse(readFileSync(part.written.file, "utf8")), day);
  } catch (error) {
    failure = error instanceof Error ? error.message : String(error);
    log.note(`${part.name}: ${failure}\n`);
  } finally {
    log.close();
  }
  const seconds = Math.round((performance.now() - began) / 1_000);
  return { day, node, outcome: failure === null ? "passed" : "failed", seconds, figure: failure ?? log.lastLine };
}

/** Returns null, or the figure of a command that failed: its last line, which says what is wrong. */
async function run(
  { run: [program = "", ...args], node, environment }: Command,
  log: PartLog,
  deadline: number,
): Promise<string | null> {
  const shown = [...Object.entries(environment ?? {}).map(([name, value]) => `${name}=${value}`), program, ...args];
  log.note(`$ ${shown.join(" ")}\n`);
  // A group of its own, so that a signal reaches every process of the part.
  const child = spawn(program === "node" && node === undefined ? process.execPath : program, args, {
    detached: true,
    env: { ...process.env, ...(node === undefined ? {} : bringNode(node).environment), ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    end(child, "SIGKILL");
  }, deadline - performance.now());
  const interrupted = (): void => {
    end(child, "SIGTERM");
    process.exit(1);
  };
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, interrupted);
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => log.write(text));
  try {
    const [code, signal] = (await once(child, "close")) as [number | null, NodeJS.Signals | null];
    if (isLate) return `stopped, because it took too long: ${shown.join(" ")}`;
    if (code === 0) return null;
    return log.lastLine === "" ? `ended with ${code ?? signal}: ${shown.join(" ")}` : log.lastLine;
  } finally {
    clearTimeout(timer);
    for (const signal of ["SIGINT", "SIGTERM"]) process.off(signal, interrupted);
  }
}

function end({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid !== undefined) process.kill(-pid, signal);
}

/** Whether the installed packages of a folder are missing, or older than its lock file. */
function isOutdated(folder: string): boolean {
  const installed = join(folder, "node_modules/.package-lock.json");
  return !existsSync(installed) || statSync(installed).mtimeMs < statSync(join(folder, "package-lock.json")).mtimeMs;
}

function install(folder: string): Command {
  return { run: ["npm", "ci", "--prefix", folder, "--no-audit", "--no-fund"] };
}
